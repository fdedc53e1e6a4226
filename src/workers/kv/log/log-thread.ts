import { Worker } from 'node:worker_threads';
import { recordBytes } from '../../../actors/kv/kv-record.js';
import type { LogBatch, LogPort } from '../../../actors/kv/log-port.js';
import { LogFailedError } from '../../../shared/kv-errors.js';
import { decodeError } from '../../error-codec.js';
import { decodeRecords } from '../record-codec.js';
import { packGroup } from './log-group.js';
import type { LogReport, LogRequest, LogThreadStart } from './log-messages.js';
import type { LogCut } from './log-store.js';

export interface OpenedLog {
  readonly log: LogThread;
  /** Batches that a store does not have, by tablet, in order. */
  readonly found: Map<string, readonly LogBatch[]>;
  readonly cuts: readonly LogCut[];
}

export interface LogThreadOptions extends LogThreadStart {
  /** The log is longer than `checkpointBytes`; these tablets keep its oldest segment. Told once per segment. */
  readonly onLong: (holders: readonly string[]) => void;
  readonly checkpointBytes: number;
}

interface Waiting {
  readonly batch: LogBatch;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Bytes of a group, so that one sync does not keep the first of it waiting for long. */
const GROUP_BYTES = 4 * 1024 * 1024;

/**
 * The log's side of this thread. Group commit: what comes while a group is being synced is the next group.
 */
export class LogThread implements LogPort {
  readonly #worker: Worker;
  readonly #options: LogThreadOptions;
  #waiting: Waiting[] = [];
  #group: readonly Waiting[] = [];
  #lost: Error | undefined;
  #logBytes = 0;
  #toldAtSegments = 0;
  #idle: (() => void)[] = [];
  #resolveClosed: (error: unknown) => void = () => {};

  private constructor(worker: Worker, options: LogThreadOptions) {
    this.#worker = worker;
    this.#options = options;
  }

  /** Checks and reads the whole log. `LogCorruptError` when what had been acknowledged is damaged. */
  static async open(options: LogThreadOptions): Promise<OpenedLog> {
    const { dir, segmentBytes, flushed } = options;
    const worker = new Worker(new URL('./log-entry.js', import.meta.url), {
      workerData: { dir, segmentBytes, flushed } satisfies LogThreadStart,
      name: 'spillway-log',
      // Flags of the process, such as --input-type, are not for this entry.
      execArgv: [],
    });
    const log = new LogThread(worker, options);
    const found = new Map<string, readonly LogBatch[]>();
    const cuts = await new Promise<readonly LogCut[]>((resolve, reject) => {
      worker.on('message', (report: LogReport) => {
        switch (report.kind) {
          case 'found':
            for (const { tablet, firstLsn, start, end } of report.batches) {
              const records = decodeRecords(report.bytes.subarray(start, end));
              const batches = (found.get(tablet) ?? []) as LogBatch[];
              batches.push({ tablet, firstLsn, records });
              found.set(tablet, batches);
            }
            return;
          case 'opened':
            log.#logBytes = report.logBytes;
            resolve(report.cuts);
            return;
          case 'unusable':
            reject(decodeError(report.error));
            return;
          default:
            log.#onReport(report);
        }
      });
      worker.on('error', (error) => {
        reject(error);
        log.#lose(error);
      });
      worker.on('exit', (code) => {
        reject(new LogFailedError(`the log's thread ended with ${code}`));
        log.#lose(undefined);
      });
    });
    return { log, found, cuts };
  }

  /** Bytes on disk. */
  get bytes(): number {
    return this.#logBytes;
  }

  append(batch: LogBatch): Promise<void> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    const bytes = recordBytes(batch.records);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, bytes, resolve, reject });
      this.#pump();
    });
  }

  release(tablet: string, lsn: number): void {
    if (this.#lost === undefined) this.#send({ kind: 'release', tablet, lsn });
  }

  /** After what was appended is durable; refuses more. */
  async close(): Promise<void> {
    if (this.#lost !== undefined) return;
    while (this.#group.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#lost = new LogFailedError('the log is closed');
    const error = await new Promise<unknown>((resolve) => {
      this.#resolveClosed = resolve;
      this.#send({ kind: 'close' });
    });
    if (error !== undefined) throw error;
  }

  #pump(): void {
    if (this.#group.length > 0 || this.#waiting.length === 0) return;
    let bytes = 0;
    const end = this.#waiting.findIndex((one, i) => {
      bytes += one.bytes;
      return i > 0 && bytes > GROUP_BYTES;
    });
    this.#group = end === -1 ? this.#waiting : this.#waiting.slice(0, end);
    this.#waiting = end === -1 ? [] : this.#waiting.slice(end);
    const frame = packGroup(this.#group.map(({ batch }) => batch));
    this.#send({ kind: 'append', frame }, [frame.buffer]);
  }

  #send(request: LogRequest, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(request, transfer);
  }

  #onReport(report: LogReport): void {
    switch (report.kind) {
      case 'appended':
        this.#logBytes = report.logBytes;
        this.#endGroup(({ resolve }) => resolve());
        this.#watchLength(report.segments, report.holders);
        return;
      case 'refused': {
        const error = decodeError(report.error);
        this.#endGroup(({ reject }) => reject(error));
        return;
      }
      case 'closed':
        this.#resolveClosed(report.error === undefined ? undefined : decodeError(report.error));
    }
  }

  #endGroup(settle: (one: Waiting) => void): void {
    const group = this.#group;
    this.#group = [];
    for (const one of group) settle(one);
    this.#pump();
    if (this.#group.length > 0) return;
    for (const wake of this.#idle.splice(0)) wake();
  }

  #watchLength(segments: number, holders: readonly string[]): void {
    if (this.#logBytes <= this.#options.checkpointBytes) {
      this.#toldAtSegments = 0;
    } else if (segments > this.#toldAtSegments && segments > 1) {
      this.#toldAtSegments = segments;
      this.#options.onLong(holders);
    }
  }

  #lose(cause: unknown): void {
    this.#lost ??= new LogFailedError("the log's thread was lost", { cause });
    const lost = this.#lost;
    const all = [...this.#group, ...this.#waiting];
    this.#group = [];
    this.#waiting = [];
    for (const { reject } of all) reject(lost);
    for (const wake of this.#idle.splice(0)) wake();
    this.#resolveClosed(undefined);
  }
}
