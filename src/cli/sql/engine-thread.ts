/**
 * One Postgres, in a thread of its own: a query that never ends is ended with the thread. It serves one client at a time,
 * so what that client does to it is nobody else's.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { PGlite } from '@electric-sql/pglite';
import type { EngineReport, EngineSeed, EngineTask } from './engine-messages.js';
import { createSystemTables, giveUpPower, ROWS_DIRECTORY, rowsFile } from './system-schema.js';
import { systemTables } from './system-tables.js';

function report(message: EngineReport): void {
  parentPort?.postMessage(message);
}

/** Of WebAssembly: its types come with the DOM's. */
interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** This thread's memories: a query that wants more gets `out of memory`, and the session goes on. */
function boundMemory(maxBytes: number): void {
  const { prototype } = (
    globalThis as unknown as { WebAssembly: { Memory: { prototype: Memory } } }
  ).WebAssembly.Memory;
  const { grow } = prototype;
  prototype.grow = function (this: Memory, pages: number): number {
    const after = this.buffer.byteLength + pages * 65_536;
    if (after > maxBytes) throw new RangeError(`memory of ${after} bytes is not allowed`);
    return grow.call(this, pages);
  };
}

/** Few buffers: the rows are in files. What spills to disk spills to memory here. */
const SETTINGS = {
  shared_buffers: '2MB',
  temp_file_limit: '32MB',
  search_path: 'public,spillway',
  default_transaction_read_only: 'on',
  max_wal_size: '64MB',
  client_min_messages: 'notice',
};

/** The databases that others are made from, a third of the directory: nobody makes any here. Not in a transaction. */
const DROP_SPARES = `
  SET default_transaction_read_only = off;
  UPDATE pg_database SET datistemplate = false;
  DROP DATABASE template0;
  DROP DATABASE template1;
  RESET default_transaction_read_only;
  CHECKPOINT`;

async function start({ template, wantsTemplate, maxMemoryBytes }: EngineSeed): Promise<void> {
  const { PGlite } = await import('@electric-sql/pglite');
  boundMemory(maxMemoryBytes);
  const pg = await PGlite.create({
    startParams: [
      ...PGlite.defaultStartParams,
      ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    // A log of 1 MB instead of 16: less to make, and less to copy for each engine.
    ...(template === undefined
      ? { initDbStartParams: ['--wal-segsize=1'] }
      : { loadDataDir: template }),
  });
  const write = { begin: 'BEGIN READ WRITE', commit: 'COMMIT' };
  if (template === undefined) {
    const tables = systemTables();
    await pg.exec(`${write.begin}; ${createSystemTables(tables)}; ${write.commit}`);
    pg.Module.FS.mkdir(`${PGlite.paths.PGDATA}/${ROWS_DIRECTORY}`);
    for (const table of tables) writeRows(pg, PGlite.paths.PGDATA, rowsFile(table), '[]');
    if (wantsTemplate) {
      for (const sql of DROP_SPARES.split(';')) await pg.exec(sql);
      report({ kind: 'template', template: await pg.dumpDataDir('none') });
    }
  }
  await pg.exec(`${write.begin}; ${giveUpPower()}; ${write.commit}`);
  parentPort?.on('message', (task: EngineTask) => {
    run(pg, PGlite.paths.PGDATA, task).catch(breakDown);
  });
  report({ kind: 'ready' });
}

function writeRows(pg: PGlite, directory: string, file: string, text: string): void {
  pg.Module.FS.writeFile(`${directory}/${file}`, text);
}

async function run(pg: PGlite, directory: string, { files, bytes }: EngineTask): Promise<void> {
  for (const [file, text] of files) writeRows(pg, directory, file, text);
  await pg.execProtocolRawStream(bytes, {
    syncToFs: false,
    // A copy: the engine's own memory cannot be handed over.
    onRawData: (data) => report({ kind: 'data', bytes: Uint8Array.from(data) }),
  });
  report({ kind: 'done' });
}

function breakDown(error: unknown): void {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  const missing = code === 'ERR_MODULE_NOT_FOUND' && String(error).includes('pglite');
  report({
    kind: 'broken',
    reason: missing ? 'MISSING' : error instanceof Error ? error.message : String(error),
  });
}

start(workerData as EngineSeed).catch(breakDown);
