import { ClassicLevel } from 'classic-level';
import type { RpcName } from '../scenario.js';

type RowsetRecord = Record<RpcName, number>;

/**
 * Table records on an embedded store. Each change is a real read-modify-write; the changes of one
 * key run one after the other, so none is lost.
 */
export class RowsetStore {
  readonly #db: ClassicLevel<string, RowsetRecord>;
  /** Last change under way by key; a key without one has no entry. */
  readonly #tails = new Map<string, Promise<unknown>>();

  constructor(dir: string) {
    this.#db = new ClassicLevel(dir, { valueEncoding: 'json' });
  }

  /** @returns how often `rpc` has changed the table so far. */
  change(table: string, rpc: RpcName): Promise<number> {
    const before = this.#tails.get(table) ?? Promise.resolve();
    const change = before.then(() => this.#readModifyWrite(table, rpc));
    const tail = change
      .catch(() => undefined)
      .then(() => {
        if (this.#tails.get(table) === tail) this.#tails.delete(table);
      });
    this.#tails.set(table, tail);
    return change;
  }

  async #readModifyWrite(table: string, rpc: RpcName): Promise<number> {
    const record = (await this.#db.get(table)) ?? { prepare_rowset: 0, commit_rowset: 0 };
    record[rpc] += 1;
    await this.#db.put(table, record);
    return record[rpc];
  }

  /** All changes that the store holds, read back from it. */
  async countChanges(): Promise<number> {
    await Promise.all(this.#tails.values());
    let changes = 0;
    for await (const record of this.#db.values()) {
      changes += record.prepare_rowset + record.commit_rowset;
    }
    return changes;
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}
