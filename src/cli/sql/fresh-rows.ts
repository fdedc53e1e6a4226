import type { BackendWatch } from '../backend-watch.js';
import type { EngineTask } from './engine-messages.js';
import { rowsFile, rowsJson } from './system-schema.js';
import { type SystemTable, systemTables } from './system-tables.js';

/** The rows of all system tables, as the backends are when it is asked. */
export class FreshRows {
  readonly #watch: BackendWatch;
  readonly #tables: readonly SystemTable[] = systemTables();

  constructor(watch: BackendWatch) {
    this.#watch = watch;
  }

  async read(): Promise<EngineTask['files']> {
    const readings = await this.#watch.read();
    return this.#tables.map((table) => [rowsFile(table), rowsJson(table, readings)]);
  }
}
