import type { ActorRef } from '../core/actor-ref.js';
import type { KeyRange } from './engine-port.js';
import { type KvRecord, textOfKey } from './kv-record.js';
import { mergeScan } from './scan-merge.js';
import type { GetReply, ScanReply } from './tablet-message.js';
import type { TabletContext, TabletOptions, TabletState } from './tablet-state.js';

/** The buffer first: what is not in it is in the store as of now, whatever is flushed meanwhile. */
export function answerGet(
  { buffer }: TabletState,
  keys: readonly Uint8Array[],
  replyTo: ActorRef<GetReply>,
  { engine }: TabletOptions,
  context: TabletContext,
): void {
  const buffered = keys.map((key) => buffer.get(textOfKey(key)));
  const missing = keys.filter((_, i) => buffered[i] === undefined);
  if (missing.length === 0) {
    const result = buffered.map((record) => record?.value ?? null);
    context.tell(replyTo, { ok: true, result });
    return;
  }
  engine.get(missing).then(
    (stored) => {
      let at = 0;
      const result = buffered.map((record) => {
        if (record !== undefined) return record?.value ?? null;
        at += 1;
        return stored[at - 1] ?? null;
      });
      context.tell(replyTo, { ok: true, result });
    },
    (error: unknown) => context.tell(replyTo, { ok: false, error: toError(error) }),
  );
}

export function answerScan(
  { buffer }: TabletState,
  range: KeyRange,
  replyTo: ActorRef<ScanReply>,
  { engine }: TabletOptions,
  context: TabletContext,
): void {
  const start = textOfKey(range.start);
  const end = range.end === undefined ? undefined : textOfKey(range.end);
  const overlay = new Map<string, KvRecord>();
  let deletes = 0;
  for (const { key, value } of buffer.newest()) {
    if (key < start || (end !== undefined && key >= end) || value === null) continue;
    overlay.set(key, value);
    if (value.value === null) deletes += 1;
  }
  // Each delete may hide one row of the store.
  const limit = range.limit + deletes;
  engine.iterate({ ...range, limit }).then(
    (rows) => {
      const isCut = rows.length >= limit;
      context.tell(replyTo, { ok: true, result: mergeScan({ rows, isCut }, overlay, range.limit) });
    },
    (error: unknown) => context.tell(replyTo, { ok: false, error: toError(error) }),
  );
}

export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
