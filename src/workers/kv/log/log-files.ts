import {
  closeSync,
  constants,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';

/** The file operations that a log needs, so that a test can let them fail. All of them block. */
export interface LogFiles {
  list(dir: string): string[];
  read(path: string): Buffer;
  /** Opens for writing, made if it is not there. */
  open(path: string): number;
  /** Writes all of it at `at`, or throws. */
  write(file: number, bytes: Uint8Array, at: number): void;
  sync(file: number): void;
  truncate(file: number, length: number): void;
  close(file: number): void;
  remove(path: string): void;
  /** Makes the names in a directory survive a loss of power. */
  syncDir(dir: string): void;
}

export const realFiles: LogFiles = Object.freeze({
  list(dir: string): string[] {
    mkdirSync(dir, { recursive: true });
    return readdirSync(dir);
  },
  read: (path: string): Buffer => readFileSync(path),
  // Not 'a': appending ignores positions on Linux, and a cut must be written over.
  open: (path: string): number => openSync(path, constants.O_RDWR | constants.O_CREAT, 0o644),
  write(file: number, bytes: Uint8Array, at: number): void {
    let done = 0;
    while (done < bytes.length) {
      done += writeSync(file, bytes, done, bytes.length - done, at + done);
    }
  },
  sync: (file: number): void => fdatasyncSync(file),
  truncate: (file: number, length: number): void => ftruncateSync(file, length),
  close: (file: number): void => closeSync(file),
  remove: (path: string): void => unlinkSync(path),
  syncDir(dir: string): void {
    // Windows cannot open a directory, and journals its names by itself.
    if (process.platform === 'win32') return;
    const file = openSync(dir, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  },
});
