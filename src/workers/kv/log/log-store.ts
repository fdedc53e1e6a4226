import { join } from 'node:path';
import { LogCorruptError, LogFailedError, LogFullError } from '../../../shared/kv-errors.js';
import type { LogFiles } from './log-files.js';
import { FRAME_HEAD, sealFrame } from './log-frame.js';
import { type PackedBatch, packGroup, unpackGroup } from './log-group.js';
import {
  SEGMENT_HEAD,
  type SegmentScan,
  scanSegment,
  segmentBase,
  segmentHead,
  segmentName,
} from './log-segment.js';

/** A tail that had never been acknowledged as a whole was cut off. */
export interface LogCut {
  readonly file: string;
  /** Length of the file now. */
  readonly offset: number;
  readonly bytes: number;
}

export interface LogStoreOptions {
  readonly dir: string;
  readonly files: LogFiles;
  /** A segment is followed by a new one before it grows beyond this. */
  readonly segmentBytes: number;
  /** What was found, segment by segment, in order. */
  readonly onSegment: (batches: readonly PackedBatch[]) => void;
  readonly onCut: (cut: LogCut) => void;
}

interface Segment {
  readonly base: number;
  readonly path: string;
  size: number;
  /** Where the records of each tablet in it end. */
  readonly ends: Map<string, number>;
}

/** Out of room now, maybe not later. Anything else that a write or a sync says leaves what is on disk unknown. */
const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/**
 * The log on disk: segments of frames, one frame per group commit. Blocks: it lives on a thread of its own. Opening it
 * checks every byte; a damaged tail is cut and reported, damage before that is refused and nothing is changed.
 */
export class LogStore {
  readonly #options: LogStoreOptions;
  readonly #segments: Segment[];
  readonly #released = new Map<string, number>();
  #file: number;
  #failed: LogFailedError | undefined;

  constructor(options: LogStoreOptions) {
    this.#options = options;
    const { dir, files } = options;
    const found = files
      .list(dir)
      .flatMap((name) => {
        const base = segmentBase(name);
        return base === undefined ? [] : [{ base, path: join(dir, name) }];
      })
      .sort((a, b) => a.base - b.base);
    this.#segments = [];
    let repair: { readonly scan: SegmentScan; readonly length: number } | undefined;
    for (const [i, { base, path }] of found.entries()) {
      const bytes = files.read(path);
      const scan = scanSegment(bytes, base);
      const isLast = i === found.length - 1;
      this.#requireSound(scan, bytes.length, base, path, isLast);
      const batches = scan.bodies.flatMap((body) => unpackGroup(body));
      this.#segments.push({ base, path, size: scan.goodBytes, ends: endsOf(batches) });
      if (isLast) repair = { scan, length: bytes.length };
      options.onSegment(batches);
    }
    const last = this.#segments.at(-1);
    this.#file =
      last === undefined ? this.#create(0) : this.#reopen(last, repair?.length ?? last.size);
  }

  /** Bytes of all segments. */
  get bytes(): number {
    return this.#segments.reduce((sum, { size }) => sum + size, 0);
  }

  get segments(): number {
    return this.#segments.length;
  }

  /** Tablets whose records keep the oldest segment from being removed. */
  get holders(): readonly string[] {
    const [oldest] = this.#segments;
    if (oldest === undefined) return [];
    return [...oldest.ends].flatMap(([tablet, end]) => (this.#isFree(tablet, end) ? [] : [tablet]));
  }

  /**
   * Writes a group as `packGroup` made it and syncs it. `LogFullError`: nothing of it is kept. `LogFailedError`: it is not
   * known what is on disk, so this and every later one is refused until the log is opened anew.
   */
  append(frame: Uint8Array): void {
    if (this.#failed !== undefined) throw this.#failed;
    const { files, segmentBytes } = this.#options;
    if (this.#last.size > SEGMENT_HEAD && this.#last.size + frame.length > segmentBytes) {
      this.#rotate();
    }
    const segment = this.#last;
    sealFrame(frame, segment.base + segment.size - SEGMENT_HEAD);
    try {
      files.write(this.#file, frame, segment.size);
      files.sync(this.#file);
    } catch (error) {
      throw this.#giveUp(error, () => {
        files.truncate(this.#file, segment.size);
        files.sync(this.#file);
      });
    }
    segment.size += frame.length;
    for (const [tablet, end] of endsOf(unpackGroup(frame.subarray(FRAME_HEAD)))) {
      segment.ends.set(tablet, end);
    }
  }

  /** Nothing of `tablet` below `lsn` is needed any more; segments that nobody needs are removed, oldest first. */
  release(tablet: string, lsn: number): void {
    this.#released.set(tablet, Math.max(lsn, this.#released.get(tablet) ?? 0));
    let removed = 0;
    while (this.#segments.length > 1 && this.holders.length === 0) {
      const oldest = this.#segments.shift() as Segment;
      this.#options.files.remove(oldest.path);
      removed += 1;
    }
    if (removed > 0) this.#options.files.syncDir(this.#options.dir);
  }

  /** Ends with an empty frame: whatever is damaged before it later had been acknowledged. */
  close(): void {
    try {
      if (this.#failed === undefined) this.append(packGroup([]));
    } finally {
      this.#options.files.close(this.#file);
      this.#failed ??= new LogFailedError('the log is closed');
    }
  }

  get #last(): Segment {
    return this.#segments[this.#segments.length - 1] as Segment;
  }

  #requireSound(
    { goodBytes, isMiddle }: SegmentScan,
    length: number,
    base: number,
    path: string,
    isLast: boolean,
  ): void {
    const previous = this.#segments.at(-1);
    if (previous !== undefined && previous.base + previous.size - SEGMENT_HEAD !== base) {
      throw new LogCorruptError(`the log misses what comes before ${path}`, {
        file: path,
        offset: 0,
      });
    }
    if (goodBytes === length && (goodBytes > 0 || isLast)) return;
    if (isLast && !isMiddle) return;
    throw new LogCorruptError(
      `the log is damaged at ${goodBytes} of ${path}, and what follows had been acknowledged`,
      { file: path, offset: goodBytes },
    );
  }

  #reopen(last: Segment, length: number): number {
    const { files, onCut } = this.#options;
    const file = files.open(last.path);
    const bytes = length - last.size;
    if (bytes > 0) {
      files.truncate(file, last.size);
      onCut({ file: last.path, offset: last.size, bytes });
    }
    if (last.size < SEGMENT_HEAD) {
      files.write(file, segmentHead(last.base), 0);
      last.size = SEGMENT_HEAD;
    }
    files.sync(file);
    return file;
  }

  #create(base: number): number {
    const { dir, files } = this.#options;
    const path = join(dir, segmentName(base));
    const file = files.open(path);
    try {
      files.write(file, segmentHead(base), 0);
      files.sync(file);
      files.syncDir(dir);
    } catch (error) {
      files.close(file);
      files.remove(path);
      throw error;
    }
    this.#segments.push({ base, path, size: SEGMENT_HEAD, ends: new Map() });
    return file;
  }

  #rotate(): void {
    const before = this.#file;
    const { base, size } = this.#last;
    try {
      this.#file = this.#create(base + size - SEGMENT_HEAD);
    } catch (error) {
      throw this.#giveUp(error, () => {});
    }
    this.#options.files.close(before);
  }

  #giveUp(error: unknown, undo: () => void): Error {
    const message = error instanceof Error ? error.message : String(error);
    if (FULL.has((error as { readonly code?: unknown } | null)?.code)) {
      try {
        undo();
        return new LogFullError(`the log has no room: ${message}`, { cause: error });
      } catch {
        // What is on disk is not known now.
      }
    }
    this.#failed = new LogFailedError(`the log has failed: ${message}`, { cause: error });
    return this.#failed;
  }

  #isFree(tablet: string, end: number): boolean {
    return (this.#released.get(tablet) ?? 0) >= end;
  }
}

function endsOf(batches: readonly PackedBatch[]): Map<string, number> {
  const ends = new Map<string, number>();
  for (const { tablet, firstLsn, count } of batches) {
    ends.set(tablet, Math.max(firstLsn + count, ends.get(tablet) ?? 0));
  }
  return ends;
}
