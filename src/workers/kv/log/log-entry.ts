/** Runs in the log's thread, which does nothing else: nobody's work delays a sync, and a sync delays nobody. */
import { parentPort, workerData } from 'node:worker_threads';
import { encodeError } from '../../error-codec.js';
import { realFiles } from './log-files.js';
import type { PackedBatch } from './log-group.js';
import type { FoundBatch, LogReport, LogRequest, LogThreadStart } from './log-messages.js';
import { type LogCut, LogStore } from './log-store.js';

const port = parentPort;
if (port === null) throw new Error('log-entry runs in a worker thread');

const { dir, segmentBytes, flushed } = workerData as LogThreadStart;
const flushedUpTo = new Map(flushed);

const report = (one: LogReport, transfer: ArrayBuffer[] = []): void =>
  port.postMessage(one, transfer);

function handOver(batches: readonly PackedBatch[]): void {
  const wanted = batches.filter(
    ({ tablet, firstLsn, count }) => firstLsn + count > (flushedUpTo.get(tablet) ?? 0),
  );
  const length = wanted.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (wanted.length === 0) return;
  const all = new Uint8Array(length);
  let at = 0;
  const found: FoundBatch[] = wanted.map(({ tablet, firstLsn, count, bytes }) => {
    all.set(bytes, at);
    at += bytes.length;
    return { tablet, firstLsn, count, start: at - bytes.length, end: at };
  });
  report({ kind: 'found', bytes: all, batches: found }, [all.buffer]);
}

function open(): LogStore | undefined {
  const cuts: LogCut[] = [];
  try {
    const store = new LogStore({
      dir,
      files: realFiles,
      segmentBytes,
      onSegment: handOver,
      onCut: (cut) => cuts.push(cut),
    });
    report({ kind: 'opened', cuts, logBytes: store.bytes });
    return store;
  } catch (error) {
    report({ kind: 'unusable', error: encodeError(error) });
    return undefined;
  }
}

const store = open();
if (store === undefined) port.close();
else port.on('message', (request: LogRequest) => answer(store, request));

function answer(log: LogStore, request: LogRequest): void {
  switch (request.kind) {
    case 'append':
      try {
        log.append(request.frame);
        const { bytes, segments, holders } = log;
        report({ kind: 'appended', logBytes: bytes, segments, holders });
      } catch (error) {
        report({ kind: 'refused', error: encodeError(error) });
      }
      return;
    case 'release':
      log.release(request.tablet, request.lsn);
      return;
    case 'close':
      try {
        log.close();
        report({ kind: 'closed' });
      } catch (error) {
        report({ kind: 'closed', error: encodeError(error) });
      }
      port?.close();
  }
}
