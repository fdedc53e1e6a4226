import { parseArgs } from 'node:util';

/** An option of a demo is not what it must be. */
export class DemoOptionError extends Error {
  override readonly name = 'DemoOptionError';
}

/** The number that an option's text stands for. @throws DemoOptionError */
export function numberIn(
  field: string,
  raw: string,
  low: number,
  high: number,
  integer = false,
): number {
  const value = raw.trim() === '' ? Number.NaN : Number(raw);
  if (!Number.isFinite(value) || value < low || value > high || (integer && value % 1 !== 0)) {
    const kind = integer ? 'an integer' : 'a number';
    throw new DemoOptionError(`--${field} must be ${kind} from ${low} to ${high}, got '${raw}'`);
  }
  return value;
}

type OptionSpecs = NonNullable<Parameters<typeof parseArgs>[0]>['options'] & object;

/** The arguments by name, as text. @throws DemoOptionError */
export function readOptions<const Specs extends OptionSpecs>(
  args: readonly string[],
  options: Specs,
): ReturnType<typeof parseArgs<{ options: Specs; args: string[] }>>['values'] {
  try {
    return parseArgs({ args: [...args], allowPositionals: false, options }).values;
  } catch (error) {
    throw new DemoOptionError(error instanceof Error ? error.message : String(error));
  }
}

/** @throws DemoOptionError */
export function requireJsonPath(file: string | undefined): string | undefined {
  if (file !== undefined && file.trim() === '') {
    throw new DemoOptionError(`--json must be the path of a file, got '${file}'`);
  }
  return file;
}
