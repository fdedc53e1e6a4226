/**
 * The runtime for a thread that is not its owner: read its state, change its configuration. One end of a channel with a
 * comlink proxy behind it. Errors arrive as our classes, which comlink alone would strip.
 */
import type { MessagePort } from 'node:worker_threads';
import { expose, wrap } from 'comlink';
import nodeAdapter from 'comlink/dist/umd/node-adapter.js';
import { RuntimeClosedError } from '../shared/errors.js';
import { cloneOptions } from './config/clone-options.js';
import type { ConfigPatch, UpdateOptions } from './config/options.js';
import type { ResolvedConfig } from './config/resolved-config.js';
import { decodeError, encodeError, type WireThrown } from './error-codec.js';
import type { RuntimeSnapshot } from './snapshot.js';
import type { RuntimeState } from './state/runtime-state.js';

/** The module is the function itself; its types, written for bundlers, say otherwise. */
const nodeEndpoint = nodeAdapter as unknown as typeof nodeAdapter.default;

/**
 * What {@link connectAdmin} gives. All of it may reject with what the runtime's own methods throw, with RuntimeClosedError
 * also when the runtime, its thread, or this end is closed before there is an answer.
 */
export interface Admin {
  snapshot(): Promise<RuntimeSnapshot>;
  config(): Promise<ResolvedConfig>;
  updateConfig(patch: ConfigPatch, options?: UpdateOptions): Promise<{ readonly version: number }>;
  reloadConfig(): Promise<{ readonly version: number }>;
  state(): Promise<RuntimeState>;
  /** Closes this end. */
  close(): void;
}

/** What the admin port offers of a runtime. */
export interface Administrated {
  snapshot(): RuntimeSnapshot;
  config(): ResolvedConfig;
  updateConfig(patch: ConfigPatch, options?: UpdateOptions): Promise<{ readonly version: number }>;
  reloadConfig(): Promise<{ readonly version: number }>;
  state(): RuntimeState;
}

type Answer<T> = { readonly value: T } | { readonly failed: WireThrown };

interface Exposed {
  ask(verb: keyof Administrated, given: readonly unknown[]): Promise<Answer<unknown>>;
}

const VERBS: readonly (keyof Administrated)[] = [
  'snapshot',
  'config',
  'updateConfig',
  'reloadConfig',
  'state',
];

/** Serves `runtime` on `port`, without keeping the process alive. */
export function serveAdmin(runtime: Administrated, port: MessagePort): void {
  const exposed: Exposed = {
    async ask(verb, given) {
      try {
        if (!VERBS.includes(verb)) throw new TypeError(`verb must be one of ${VERBS.join(', ')}`);
        const run = runtime[verb].bind(runtime) as (...given: readonly unknown[]) => unknown;
        return { value: await run(...given) };
      } catch (error) {
        return { failed: encodeError(error) };
      }
    },
  };
  expose(exposed, nodeEndpoint(port));
  port.unref();
}

/** Connects to the other end of `runtime.adminPort()`, in whatever thread it was sent to. */
export function connectAdmin(port: MessagePort): Admin {
  const remote = wrap<Exposed>(nodeEndpoint(port));
  const waiting = new Set<(reason: RuntimeClosedError) => void>();
  let closed = false;
  port.unref();
  // Whatever was answered has come before.
  port.once('close', () => {
    closed = true;
    for (const reject of waiting) reject(new RuntimeClosedError());
  });
  const ask = async <T>(verb: keyof Administrated, ...given: readonly unknown[]): Promise<T> => {
    if (closed) throw new RuntimeClosedError();
    let giveUp: (reason: RuntimeClosedError) => void = () => undefined;
    const end = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    waiting.add(giveUp);
    // An answer is worth staying alive for.
    port.ref();
    try {
      const answer = (await Promise.race([remote.ask(verb, given), end])) as Answer<T>;
      if ('failed' in answer) throw decodeError(answer.failed);
      return answer.value;
    } finally {
      waiting.delete(giveUp);
      if (waiting.size === 0) port.unref();
    }
  };
  return {
    snapshot: () => ask('snapshot'),
    config: () => ask('config'),
    updateConfig: async (patch, options = {}) =>
      ask('updateConfig', cloneOptions(patch), cloneOptions(options)),
    reloadConfig: () => ask('reloadConfig'),
    state: () => ask('state'),
    close: () => port.close(),
  };
}
