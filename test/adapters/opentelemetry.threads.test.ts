import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
let elsewhere: string;

beforeEach(() => {
  elsewhere = mkdtempSync(join(tmpdir(), 'spillway-no-peer-'));
  for (const name of ['dist', 'package.json'])
    cpSync(join(ROOT, name), join(elsewhere, name), { recursive: true });
});
afterEach(() => {
  rmSync(elsewhere, { recursive: true, force: true });
});

describe('the OpenTelemetry adapter where its peer is not installed', () => {
  it('can be imported, and says what is missing when it is used', async () => {
    const program = `
      const { bridgeMetrics, traceGate } = await import('./dist/adapters/opentelemetry.js');
      for (const use of [() => traceGate({ call() {} }), () => bridgeMetrics({ snapshot() {} })]) {
        try {
          use();
        } catch (error) {
          console.log(error.message, '/', error.cause.code);
        }
      }
    `;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: elsewhere,
      timeout: 30_000,
    });
    const said = '@opentelemetry/api 1.9 or newer must be installed for this adapter';
    const line = `${said} / MODULE_NOT_FOUND\n`;
    expect(await run).toEqual({ stdout: line + line, stderr: '' });
  });
});
