import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DemoOptionError } from './option-values.js';

/** Before the load: nobody should wait for a report that cannot be written. */
export function checkWritable(file: string): string {
  const present = statSync(file, { throwIfNoEntry: false });
  try {
    if (present?.isDirectory() === true) throw new Error('it is a directory');
    accessSync(present === undefined ? dirname(file) : file, constants.W_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DemoOptionError(
      `--json must be a file that can be written, got '${file}': ${reason}`,
    );
  }
  return file;
}
