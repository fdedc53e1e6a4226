import { basename } from 'node:path';
import type { LogFiles } from '../../../src/workers/kv/log/log-files.js';

interface MemoryFile {
  /** As a process sees it. */
  bytes: Buffer;
  /** As it is after a loss of power, if nothing of what was written since has got to the disk. */
  durable: Buffer;
}

/** Files in memory that can fail, run full, and lose their power. */
export class MemoryFiles implements LogFiles {
  readonly files = new Map<string, MemoryFile>();
  /** Bytes that can still be written; the write that passes it is done in part, as on a real disk. */
  roomBytes: number = Number.POSITIVE_INFINITY;
  /** What the next sync throws. */
  syncError: Error | undefined;
  writes = 0;
  readonly #open = new Map<number, string>();
  #lastHandle = 0;

  list(): string[] {
    return [...this.files.keys()];
  }

  read(path: string): Buffer {
    return Buffer.from(this.file(path).bytes);
  }

  open(path: string): number {
    const name = basename(path);
    if (!this.files.has(name)) {
      this.files.set(name, { bytes: Buffer.alloc(0), durable: Buffer.alloc(0) });
    }
    this.#lastHandle += 1;
    this.#open.set(this.#lastHandle, name);
    return this.#lastHandle;
  }

  write(handle: number, bytes: Uint8Array, at: number): void {
    this.writes += 1;
    const file = this.#of(handle);
    const fits = bytes.subarray(0, Math.min(bytes.length, Math.max(0, this.roomBytes)));
    const grown = Buffer.alloc(Math.max(file.bytes.length, at + fits.length));
    file.bytes.copy(grown);
    grown.set(fits, at);
    file.bytes = grown;
    this.roomBytes -= fits.length;
    if (fits.length < bytes.length) {
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    }
  }

  sync(handle: number): void {
    const { syncError } = this;
    this.syncError = undefined;
    if (syncError !== undefined) throw syncError;
    const file = this.#of(handle);
    file.durable = Buffer.from(file.bytes);
  }

  truncate(handle: number, length: number): void {
    const file = this.#of(handle);
    this.roomBytes += file.bytes.length - length;
    file.bytes = file.bytes.subarray(0, length);
  }

  close(handle: number): void {
    this.#open.delete(handle);
  }

  remove(path: string): void {
    this.files.delete(basename(path));
  }

  syncDir(): void {}

  get handles(): number {
    return this.#open.size;
  }

  /** Power is lost: of what was not synced each byte either got to the disk or did not, by `isWritten`. */
  losePower(isWritten: (byte: number) => boolean): void {
    for (const file of this.files.values()) {
      const after = Buffer.alloc(Math.max(file.bytes.length, file.durable.length));
      let end = file.durable.length;
      for (let i = 0; i < after.length; i += 1) {
        const isNew = i >= file.durable.length || file.bytes[i] !== file.durable[i];
        if (isNew && i < file.bytes.length && isWritten(i)) {
          after[i] = file.bytes[i] as number;
          end = Math.max(end, i + 1);
        } else after[i] = file.durable[i] ?? 0;
      }
      file.bytes = after.subarray(0, end);
      file.durable = Buffer.from(file.bytes);
    }
    this.#open.clear();
  }

  file(path: string): MemoryFile {
    const file = this.files.get(basename(path));
    if (file === undefined) throw new Error(`no file ${path}`);
    return file;
  }

  #of(handle: number): MemoryFile {
    return this.file(this.#open.get(handle) ?? 'closed');
  }
}
