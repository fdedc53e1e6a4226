import { readFileSync } from 'node:fs';

/** Of this package; `unknown` where its package.json did not come along, such as in a bundle. */
export function packageVersion(): string {
  try {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    const { name, version } = JSON.parse(text) as { name?: unknown; version?: unknown };
    return name === 'spillway' && typeof version === 'string' ? version : 'unknown';
  } catch {
    return 'unknown';
  }
}
