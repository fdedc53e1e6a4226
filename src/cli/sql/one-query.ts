import { CommandError } from '../usage-error.js';
import { Engine } from './engine.js';
import { ENGINE_MEMORY_BYTES } from './engine-shelf.js';
import type { FreshRows } from './fresh-rows.js';
import { type QueryAnswer, readAnswer } from './query-results.js';
import type { SessionLimits } from './sql-session.js';
import { query } from './wire-messages.js';

/**
 * Starts an engine, asks it once, ends it. Its start takes seconds and does not count against the time-out.
 * @throws CommandError when it takes too long, or answers too much
 */
export async function askOnce(
  sql: string,
  rows: FreshRows,
  limits: SessionLimits,
): Promise<QueryAnswer> {
  const engine = new Engine({
    template: undefined,
    wantsTemplate: false,
    maxMemoryBytes: ENGINE_MEMORY_BYTES,
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    await engine.ready;
    const files = await rows.read();
    const chunks: Uint8Array[] = [];
    let total = 0;
    let stopped: string | undefined;
    const stop = (why: string): void => {
      stopped ??= why;
      void engine.kill(why);
    };
    timer = setTimeout(() => stop(`no result within ${limits.timeoutMs} ms`), limits.timeoutMs);
    const asked = engine.run({ files, bytes: query(sql) }, (bytes) => {
      chunks.push(bytes);
      total += bytes.byteLength;
      if (total > limits.maxResultBytes) {
        stop(`the result is larger than ${limits.maxResultBytes} bytes`);
      }
    });
    await asked.catch((error) => {
      throw new CommandError(stopped ?? `the query ended the engine: ${error.message}`);
    });
    return readAnswer(chunks);
  } finally {
    clearTimeout(timer);
    await engine.kill();
  }
}
