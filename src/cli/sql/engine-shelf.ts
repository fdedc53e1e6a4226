import { Engine } from './engine.js';

/** Bytes of an engine's memory. An idle one has 134 MB of address space, of which it has touched a part. */
export const ENGINE_MEMORY_BYTES: number = 512 * 1024 * 1024;

/**
 * Engines for clients. The first makes its data directory, which takes seconds; those after it begin with a copy. One is
 * always kept ready for who comes next.
 */
export class EngineShelf {
  #template: Promise<Blob>;
  #spare: Engine | undefined;
  readonly #out = new Set<Engine>();
  #closed = false;

  constructor() {
    const first = new Engine({
      template: undefined,
      wantsTemplate: true,
      maxMemoryBytes: ENGINE_MEMORY_BYTES,
    });
    this.#template = first.template;
    this.#spare = first;
  }

  /** Resolves when an engine is ready. @throws CommandError, EngineGone */
  async ready(): Promise<void> {
    await this.#spare?.ready;
  }

  /** A ready engine; whoever takes it kills it. @throws EngineGone */
  async take(): Promise<Engine> {
    const engine = this.#spare?.gone === false ? this.#spare : await this.#begin();
    if (engine === this.#spare) this.#spare = undefined;
    this.#out.add(engine);
    try {
      await engine.ready;
    } catch (error) {
      this.#out.delete(engine);
      throw error;
    }
    void this.#refill();
    return engine;
  }

  /** Ends an engine that was taken. */
  async discard(engine: Engine, reason?: string): Promise<void> {
    this.#out.delete(engine);
    await engine.kill(reason);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#out, ...(this.#spare === undefined ? [] : [this.#spare])];
    await Promise.all(all.map((engine) => engine.kill()));
  }

  async #begin(): Promise<Engine> {
    const template = await this.#template;
    return new Engine({ template, wantsTemplate: false, maxMemoryBytes: ENGINE_MEMORY_BYTES });
  }

  async #refill(): Promise<void> {
    if (this.#spare !== undefined) return;
    const engine = await this.#begin().catch(() => undefined);
    if (engine === undefined) return;
    if (this.#closed || this.#spare !== undefined) await engine.kill();
    else this.#spare = engine;
  }
}
