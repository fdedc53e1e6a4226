import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { applyPatch } from '../../src/workers/config/apply-patch.js';
import { resolveConfig } from '../../src/workers/config/resolve-config.js';

const NAME = 'client.writer.kv-backpressure.max-throttle';

it.each([
  [250, 250],
  ['3s', 3000],
  ['500 ms', 500],
  ['500ms', 500],
  ['1 min', 60_000],
  ['1h', 3_600_000],
  ['0s', 0],
])('takes %j for %d ms, in code, in a patch and in a file', (given, maxThrottleMs) => {
  expect(resolveConfig({ [NAME]: given }, 1).pressure).toEqual({ maxThrottleMs });
  expect(applyPatch(resolveConfig({}, 1), { [NAME]: given }, 1).pressure).toEqual({
    maxThrottleMs,
  });
  const folder = mkdtempSync(join(tmpdir(), 'spillway-config-'));
  const configFile = join(folder, 'fluss.conf');
  writeFileSync(configFile, `${NAME} = ${given}\n`);
  expect(resolveConfig({ configFile }, 1).pressure).toEqual({ maxThrottleMs });
  rmSync(folder, { recursive: true });
});

it.each(['5', '3 sec', '-1s', '2d', '1.5s', '25h', '99999999999999999s', -1, Number.NaN])(
  'refuses %j in its own words',
  (given) => {
    expect(() => resolveConfig({ [NAME]: given } as never, 1)).toThrow(
      /^client\.writer\.kv-backpressure\.max-throttle must be from 0 to 86400000 ms, or a duration such as '3s'/,
    );
  },
);

it('refuses two spellings that disagree', () => {
  expect(resolveConfig({ pressure: { maxThrottleMs: 3000 }, [NAME]: '3s' }, 1).pressure).toEqual({
    maxThrottleMs: 3000,
  });
  expect(() => resolveConfig({ pressure: { maxThrottleMs: 3001 }, [NAME]: '3s' }, 1)).toThrow(
    /must agree with pressure\.maxThrottleMs, which is 3001/,
  );
});
