/** What became of the puts of one thread into one bucket, by key. Plain arrays, so that it crosses threads. */
export interface LedgerPage {
  readonly bucket: number;
  readonly ids: readonly number[];
  /** Newest version that was acknowledged; 0: none. */
  readonly acknowledged: readonly number[];
  /** Newest version that was sent, which is at least that. */
  readonly sent: readonly number[];
}

interface Entry {
  acknowledged: number;
  sent: number;
}

/** Each key's versions go up with each put, and its puts are in order. */
export class PutLedger {
  readonly #bucket: number;
  readonly #entries = new Map<number, Entry>();

  constructor(bucket: number) {
    this.#bucket = bucket;
  }

  /** Version of the next put of the key. */
  send(id: number): number {
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      this.#entries.set(id, { acknowledged: 0, sent: 1 });
      return 1;
    }
    entry.sent += 1;
    return entry.sent;
  }

  acknowledge(id: number, version: number): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.acknowledged = Math.max(entry.acknowledged, version);
  }

  page(): LedgerPage {
    const entries = [...this.#entries];
    return {
      bucket: this.#bucket,
      ids: entries.map(([id]) => id),
      acknowledged: entries.map(([, { acknowledged }]) => acknowledged),
      sent: entries.map(([, { sent }]) => sent),
    };
  }
}

/** Whether a store that holds `found` of a key has lost something, or has what was never sent. */
export function isLost(acknowledged: number, sent: number, found: number | undefined): boolean {
  const version = found ?? 0;
  return version < acknowledged || version > sent;
}
