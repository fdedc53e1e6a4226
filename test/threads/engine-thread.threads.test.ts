import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { EngineThread } from '../../src/workers/kv/engine-thread.js';
import { tempDirs } from '../adapters/temp-dir.js';

const tempDir = tempDirs();
const dist = new URL('../../dist/', import.meta.url);
const built = (await import(new URL('workers/kv/engine-thread.js', dist).href)) as {
  EngineThread: typeof EngineThread;
};
const factory = {
  module: new URL('adapters/rocksdb.js', dist).href,
  exportName: 'openRocksDbEngine',
};
const bytes = (text: string): Uint8Array => Buffer.from(text);

describe('an engine thread', () => {
  it('runs several engines, each with its own rows', async () => {
    const thread = new built.EngineThread(factory);
    const [first, second] = await Promise.all([
      thread.open({ dir: tempDir() }),
      thread.open({ dir: tempDir() }),
    ]);
    expect(first.sample).toEqual({ l0Files: 0, stalled: false });
    expect(first.engine.triggers.l0SlowdownWritesTrigger).toBe(20);
    const one = [{ key: bytes('a'), value: bytes('1') }];
    expect((await first.engine.write({ records: one, flushedUpTo: 1 })).kind).toBe('written');
    expect(await first.engine.get([bytes('x'), bytes('a')])).toEqual([null, new Uint8Array([49])]);
    expect(await second.engine.get([bytes('a')])).toEqual([null]);
    const rows = await first.engine.iterate({ start: bytes(''), limit: 5 });
    expect(rows).toEqual([{ key: new Uint8Array([97]), value: new Uint8Array([49]) }]);
    await first.engine.checkpoint();
    expect(await first.engine.sample()).toEqual({ l0Files: 1, stalled: false });
    await Promise.all([first.engine.close(), second.engine.close()]);
    await thread.close();
  });

  it('says why an engine could not be opened, by its class', async () => {
    const thread = new built.EngineThread(factory);
    const dir = tempDir();
    const { engine } = await thread.open({ dir });
    await expect(thread.open({ dir })).rejects.toMatchObject({ name: 'DirectoryInUseError' });
    await expect(thread.open({ dir: tempDir(), writeBufferSize: 1 })).rejects.toMatchObject({
      name: 'ConfigError',
      field: 'writeBufferSize',
    });
    await engine.close();
    await thread.close();
  });

  it('fails what is under way when it dies', async () => {
    const silent = `export async function open() {
      let calls = 0;
      const sample = () => (calls++ === 0 ? { l0Files: 0, stalled: false } : new Promise(() => {}));
      return { triggers: {}, flushedUpTo: 0, sample };
    }`;
    const module = `data:text/javascript,${encodeURIComponent(silent)}`;
    const thread = new built.EngineThread({ module, exportName: 'open' });
    const { engine } = await thread.open({});
    const lost = engine.sample();
    await Promise.all([
      expect(lost).rejects.toMatchObject({ name: 'WorkerLostError' }),
      thread.close(),
    ]);
    await expect(engine.sample()).rejects.toMatchObject({ name: 'WorkerLostError' });
  });

  it('keeps the caller turning while the store is pressed as hard as it gets', async () => {
    const thread = new built.EngineThread(factory);
    const { engine } = await thread.open({ dir: tempDir(), writeBufferSize: 65_536 });
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    let refused = 0;
    for (let i = 0; i < 600; i += 1) {
      const records = Array.from({ length: 8 }, () => ({
        key: randomBytes(16),
        value: randomBytes(4096),
      }));
      const { kind } = await engine.write({ records, flushedUpTo: i + 1 });
      if (kind === 'refused') refused += 1;
      await turn();
    }
    delay.disable();
    expect(refused).toBeGreaterThan(0);
    // Generous, for a machine with other work; an engine on this thread would stall it for hundreds of ms.
    expect(delay.percentile(50) / 1e6).toBeLessThan(20);
    await engine.close();
    await thread.close();
  });
});
