import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openChromium } from '../../../scripts/open-chromium.mjs';
import { visibleText } from '../../../src/adapters/admin/dashboard/page/model/visible-text.js';
import type { RuntimeState } from '../../../src/workers/state/runtime-state.js';
import { rpcSample, snapshotSample } from '../snapshot-sample.js';
import { openPage, type WatchedPage } from './open-browser.js';
import { type ScriptedBackend, serveState } from './scripted-backend.js';
import { startLoad } from './small-load.js';
import { pair, stateSample, upgrade } from './state-sample.js';

const LONG = 'x'.repeat(10_240);
// Names that break out of markup, of attributes and selectors, of lines, of the direction of writing, and of any width.
const NAMES = [
  '<img src=x onerror="globalThis.ran = true">',
  '"\'`><script>globalThis.ran = true</script>',
  '</script><svg onload=alert(1)>',
  'two\nlines\r\n\tand \u0000 \u001b[31m control',
  '\u202egnp.elbat\u2066',
  `${'very '.repeat(2000)}long`,
  LONG,
  '\u{1f642}\u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u{1f1e9}\u{1f1ea} table',
  '\u062c\u062f\u0648\u0644 "arabic"',
  `z${'\u0335\u0321\u0344'.repeat(40)}algo`,
  '__proto__',
];

let browser: Browser;
beforeAll(async () => {
  browser = await openChromium();
});
afterAll(() => browser?.close());

async function openWith(url: string, width: number, rows: number): Promise<WatchedPage> {
  const watched = await openPage(browser, { width });
  await watched.page.goto(url);
  await watched.page.waitForSelector(`#slowed-tables tbody tr:nth-child(${rows})`, {
    timeout: 30_000,
  });
  return watched;
}

/** Every place of a state that others name, with each of the names. */
function hostileState(): RuntimeState {
  const stats = (table: string) => ({
    table,
    maxPressure: 0.9,
    rejections: 0,
    records: 0,
    bytes: 0,
    flushes: { count: 0, sumNs: 0, buckets: [] },
    flushedRecords: 0,
    flushRetries: 0,
    pendingBytes: 0,
    preWriteEntries: 0,
    maxL0Files: 3,
    buckets: [{ bucket: 0, pressure: 0.9, l0Files: 3, pendingBytes: 0, preWriteEntries: 0 }],
  });
  const move = (table: string) => ({ rpc: table, table, before: null, after: 1, qps: 9 });
  const breaker = { ...snapshotSample().breaker, open: NAMES.length, tracked: NAMES.length };
  return stateSample(60_000, {
    backendId: NAMES[0] as string,
    hostname: LONG,
    throttled: NAMES.map((name) => pair(name, { rpc: name })),
    history: NAMES.map((reason, i) =>
      upgrade(i + 1, i, i + 1, { reason, changes: NAMES.map(move) }),
    ),
    events: NAMES.map((reason, i) => ({
      seq: i + 1,
      atMs: i,
      name: 'kernel-fallback',
      event: { reason },
    })),
    stores: NAMES.map((name) => ({ name, tables: [stats(name)], logBytes: 0 })),
    runtime: snapshotSample({
      level: NAMES.length,
      breaker,
      rpcs: NAMES.map((name) => rpcSample(name)),
      pressure: NAMES.map((bucket) => ({ bucket, pressure: 1, remainingMs: 5 })),
      circuits: NAMES.map((address) => ({
        address,
        state: 'open',
        isolated: false,
        consecutiveFailures: 0,
        retryAfterMs: 5,
      })),
    }),
  });
}

/** Of what others have named: nothing but text has come of it. */
async function expectOnlyText({ page, problems }: WatchedPage): Promise<void> {
  expect(await page.locator('main img, main script, main svg svg, header img').count()).toBe(0);
  expect(await page.evaluate('globalThis.ran')).toBeUndefined();
  expect(await problems()).toEqual([]);
}

it('shows tables with hostile names as the runtime calls them', async () => {
  const load = await startLoad(NAMES);
  try {
    const { url } = await load.runtime.admin.listen({ port: 0 });
    const watched = await openWith(url, 1200, NAMES.length);
    const shown = (await watched.page.evaluate(
      `[...document.querySelectorAll('#slowed-tables tbody tr')].map((row) => row.dataset.table)`,
    )) as string[];
    const named = load.runtime.state().throttled.map(({ table }) => table);
    expect(shown.sort().join('\0') === named.sort().join('\0')).toBe(true);
    await expectOnlyText(watched);
    await watched.page.context().close();
  } finally {
    await load.stop();
  }
});

let backend: ScriptedBackend;
beforeAll(async () => {
  backend = await serveState(hostileState);
});
afterAll(() => backend?.close());

it.each([360, 1200])('shows hostile names as text everywhere, %d px wide', async (width) => {
  const watched = await openWith(backend.url, width, NAMES.length);
  const { page } = watched;
  const shown = (await page.evaluate(
    `[...document.querySelectorAll('#slowed-tables tbody tr')].map((row) =>
       [row.dataset.table, row.querySelector('td bdi').textContent, row.querySelector('td button') !== null])`,
  )) as [string, string, boolean][];
  expect(shown.map(([name]) => NAMES.indexOf(name)).sort((a, b) => a - b)).toEqual([
    ...NAMES.keys(),
  ]);
  for (const [name, text, isCut] of shown) {
    const whole = visibleText(name);
    expect(isCut).toBe([...whole].length > 48);
    expect(isCut ? whole.startsWith(text.slice(0, -1)) : whole === text).toBe(true);
  }
  await expectOnlyText(watched);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  const heights = (await page.evaluate(
    `[...document.querySelectorAll('tbody tr, figcaption, #headline, header')]
       .filter((element) => element.checkVisibility())
       .map((element) => element.getBoundingClientRect().height)`,
  )) as number[];
  expect(heights.length).toBeGreaterThan(NAMES.length * 5);
  for (const height of heights) expect(height).toBeLessThan(500);
  await page.context().close();
});

it('shows the whole name when asked, by the keyboard too', async () => {
  const { page } = await openWith(backend.url, 360, NAMES.length);
  const row = page.locator('#slowed-tables tr:has(td bdi:text-matches("^xx"))').first();
  await row.locator('button').first().focus();
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog[open]');
  expect((await page.textContent('#full-text')) === LONG).toBe(true);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  await page.keyboard.press('Escape');
  expect(await page.locator('dialog[open]').count()).toBe(0);
  await page.context().close();
});
