import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dashboardPage } from '../../../dist/adapters/admin/dashboard/page.js';
import type { AdminServer } from '../../../dist/index.js';
import type { RuntimeState } from '../../../dist/workers/state/runtime-state.js';
import { openChromium } from '../../../scripts/open-chromium.mjs';
import { openPage, type PageSetting, type WatchedPage } from './open-browser.js';
import { expectedBoard, readBoard, type ShownBoard, sorted } from './shown-board.js';
import { type SmallLoad, startLoad } from './small-load.js';
import { StateTap } from './state-tap.js';

let browser: Browser;
let load: SmallLoad;
let server: AdminServer;
let tap: StateTap;
let opened: WatchedPage[] = [];

beforeAll(async () => {
  browser = await openChromium();
  load = await startLoad(['10086', '10010']);
});
afterAll(async () => {
  await browser?.close();
  await load?.stop();
});
beforeEach(async () => {
  server = await load.runtime.admin.listen({ port: 0 });
  tap = await new StateTap(server.url).listen();
});
afterEach(async () => {
  for (const { page } of opened) await page.context().close();
  opened = [];
  await tap.close();
  await server.close();
});

async function open(url: string, setting?: PageSetting): Promise<WatchedPage> {
  const watched = await openPage(browser, setting);
  opened.push(watched);
  await watched.page.goto(url);
  return watched;
}

const linked = ({ page }: WatchedPage, kind: string) =>
  page.waitForSelector(`html[data-link="${kind}"]`, { state: 'attached', timeout: 30_000 });
const slowed = ({ page }: WatchedPage) =>
  page.waitForSelector('#slowed-tables tbody tr:nth-child(2)', { timeout: 30_000 });

const stateNow = async (): Promise<RuntimeState> =>
  (await (await fetch(`${server.url}/state`)).json()) as RuntimeState;

/** The rows in any order: how they are sorted is tested apart. */
function comparable({ link: _link, seq: _seq, upgrades: _upgrades, ...shown }: ShownBoard) {
  const { throttled, hosts, circuits, stores } = shown;
  return {
    ...shown,
    throttled: sorted(throttled),
    hosts: sorted(hosts),
    circuits: sorted(circuits),
    stores: sorted(stores),
  };
}

/** Several times in a row, while the load goes on. */
async function compare({ page }: WatchedPage): Promise<void> {
  let lastMs = -1;
  for (let times = 0; times < 3; times++) {
    await page.waitForSelector(`#board:not([data-at-ms="${lastMs}"])`);
    const before = await stateNow();
    const shown = await readBoard(page);
    const after = await stateNow();
    lastMs = shown.atMs;
    expect(comparable(shown)).toEqual(expectedBoard(tap.stateAt(shown.atMs)));
    // And against the state at this moment: what only grows lies between that of before and that of after.
    expect(shown.runtimeId).toBe(before.runtimeId);
    expect(shown.configVersion).toBe(String(before.runtime?.configVersion));
    expect(shown.level).toMatch(/^\d+$/);
    expect(Number(shown.level)).toBeLessThanOrEqual(after.runtime?.level ?? -1);
    expect(shown.seq).toBeLessThanOrEqual(after.events.at(-1)?.seq ?? -1);
    expect(shown.atMs).toBeLessThanOrEqual(after.atMs);
  }
}

describe('what the page shows', () => {
  it('is the state, over the stream', async () => {
    const watched = await open(tap.url);
    await linked(watched, 'connected');
    await slowed(watched);
    await compare(watched);
    expect(tap.streams).toHaveLength(1);
    expect(await watched.page.textContent('#link')).toContain('connected');
    expect(await watched.problems()).toEqual([]);
  });

  it('is the state, by polling where nothing streams', async () => {
    tap.mode = 'no-stream';
    const watched = await open(tap.url);
    await linked(watched, 'connected');
    await slowed(watched);
    await compare(watched);
    expect(await watched.page.textContent('#link')).toContain('polling');
    expect(await watched.problems()).toEqual([]);
  });

  it('has the upgrades of the history, and the events as they come', async () => {
    const watched = await open(tap.url);
    await slowed(watched);
    const { version } = await load.runtime.updateConfig({ tables: { ratio: 0.8 } });
    await watched.page.waitForSelector('#events tr[data-name="config"]');
    await watched.page.waitForSelector(`#board[data-config-version="${version}"]`);
    const { upgrades, level } = await readBoard(watched.page);
    const { history } = await stateNow();
    expect(upgrades.length).toBe(Math.min(10, Number(level)));
    for (const { seq, level: of } of upgrades)
      expect(history.find((record) => record.seq === Number(seq))?.level).toBe(Number(of));
    const seqs = (await watched.page.evaluate(
      `[...document.querySelectorAll('#events tbody tr')].map((row) => Number(row.dataset.seq))`,
    )) as number[];
    expect(seqs).toEqual([...seqs].sort((a, b) => b - a));
    await watched.page.fill('#events input', 'config version');
    const names = (await watched.page.evaluate(
      `[...document.querySelectorAll('#events tbody tr')].map((row) => row.dataset.name)`,
    )) as string[];
    expect(new Set(names)).toEqual(new Set(['config']));
  });

  it('is told of the hottest pairs as long as it looks', async () => {
    const watched = await open(tap.url);
    await slowed(watched);
    // From the second state on, unless the load itself was held up.
    let hottest: RuntimeState['hottest'] = [];
    for (let states = 0; states < 20 && hottest.length === 0; states++) {
      const { atMs } = await readBoard(watched.page);
      await watched.page.waitForSelector(`#board:not([data-at-ms="${atMs}"])`);
      hottest = tap.stateAt((await readBoard(watched.page)).atMs).hottest ?? [];
    }
    expect(hottest.map(({ rpc, table }) => `${rpc}/${table}`).sort()).toEqual([
      'commit_rowset/10010',
      'commit_rowset/10086',
    ]);
    for (const { qps } of hottest) expect(qps).toBeGreaterThan(0);
  });

  it('says in a sentence what is worst', async () => {
    const watched = await open(tap.url);
    await slowed(watched);
    expect(await watched.page.textContent('#headline div')).toMatch(
      /2 tables slowed, worst commit_rowset\/100(86|10) at [\d.]+\/s, down from [\d.]+\/s, since \d\d:\d\d:\d\d \(.*\), because \d+ BUSY in \d+ ms/,
    );
    expect(await watched.page.title()).toBe('2 slowed - Spillway');
  });

  it('is drawn in charts that have words', async () => {
    const watched = await open(tap.url);
    await slowed(watched);
    const labels = (await watched.page.evaluate(
      `[...document.querySelectorAll('main svg')].filter((svg) => svg.checkVisibility())
         .map((svg) => [svg.getAttribute('role'), svg.getAttribute('aria-label')])`,
    )) as [string, string][];
    expect(labels.map(([role]) => role)).toEqual(['img', 'img', 'img', 'img']);
    for (const table of ['10086', '10010']) {
      expect(labels.map(([, label]) => label)).toContainEqual(
        expect.stringMatching(
          new RegExp(`^commit_rowset / ${table}, last .*asked for: [\\d.]+/s, limit: [\\d.]+/s`),
        ),
      );
    }
    const lines = (await watched.page.evaluate(
      `[...document.querySelectorAll('#qps-of-tables path')].map((path) => path.getTotalLength())`,
    )) as number[];
    expect(lines).toHaveLength(4);
    for (const length of lines) expect(length).toBeGreaterThan(0);
  });
});

describe('a backend that is gone', () => {
  it('leaves the page stale, which connects again and asks for what it has missed', async () => {
    const watched = await open(tap.url);
    await linked(watched, 'connected');
    await slowed(watched);
    const { seq, atMs } = await readBoard(watched.page);
    tap.cut();
    await linked(watched, 'stale');
    expect(await watched.page.textContent('#link')).toMatch(/stale, \d+ s old/);
    expect(await watched.page.title()).toMatch(/^\(stale\)/);
    // What was known stays there to be read.
    expect(await watched.page.isVisible('#slowed-tables tr[data-table="10010"]')).toBe(true);
    tap.mode = 'pass';
    await linked(watched, 'connected');
    const after = await readBoard(watched.page);
    expect(after.atMs).toBeGreaterThan(atMs);
    expect(Number(tap.streams.at(-1)?.['last-event-id'])).toBeGreaterThanOrEqual(seq);
    expect(await watched.problems()).toEqual([]);
  });

  it('is noticed where its connection stays open', async () => {
    const watched = await open(tap.url);
    await linked(watched, 'connected');
    tap.mode = 'hold';
    await linked(watched, 'stale');
    tap.mode = 'pass';
    await linked(watched, 'connected');
    expect(tap.streams).toHaveLength(1);
  });

  it('is noticed at once by a tab that was asleep', async () => {
    const watched = await open(tap.url);
    const { page } = watched;
    await linked(watched, 'connected');
    // Since the tab fell asleep its clock has gone on, but none of its timers. One turn: no state comes in between.
    const seen = await page.evaluate(`(() => {
      const now = Date.now;
      Date.now = () => now() + 3_600_000;
      document.dispatchEvent(new Event('visibilitychange'));
      return document.getElementById('link').textContent;
    })()`);
    expect(seen).toMatch(/stale, 1 h( \d s)? old/);
    await linked(watched, 'connected');
  });

  it('and comes back as another process begins anew', async () => {
    const watched = await open(tap.url);
    await linked(watched, 'connected');
    await slowed(watched);
    const other = await startLoad(['7']);
    try {
      const otherServer = await other.runtime.admin.listen({ port: 0 });
      tap.cut();
      tap.upstream = otherServer.url;
      tap.mode = 'pass';
      await watched.page.waitForSelector('#slowed-tables tr[data-table="7"]', { timeout: 30_000 });
      const shown = await readBoard(watched.page);
      expect(comparable(shown)).toEqual(expectedBoard(tap.stateAt(shown.atMs)));
      const charts = await watched.page.locator('#qps-of-tables figure').count();
      expect(charts).toBe(1);
    } finally {
      await other.stop();
    }
  });
});

describe('a backend with a token', () => {
  const token = 'correct horse battery staple'.replaceAll(' ', '-');
  let guarded: AdminServer;
  beforeEach(async () => {
    guarded = await load.runtime.admin.listen({ port: 0, token });
    tap.upstream = guarded.url;
  });
  afterEach(() => guarded.close());

  it('asks for it, and is shown with the right one only', async () => {
    const watched = await open(tap.url);
    const { page } = watched;
    await linked(watched, 'denied');
    expect(await page.evaluate('document.activeElement.id')).toBe('token-text');
    await page.keyboard.type('something-else-altogether');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#token-refused:not(:empty)');
    expect(await page.locator('#board *').count()).toBe(0);
    await page.fill('#token-text', token);
    await page.keyboard.press('Enter');
    await linked(watched, 'connected');
    expect(await page.isVisible('#token')).toBe(false);
    // Kept for the life of the tab.
    await page.reload();
    await linked(watched, 'connected');
    expect(watched.asked.filter((url) => url.includes('correct'))).toEqual([]);
    expect(await watched.problems()).toEqual([]);
  });

  it('is opened with it in the fragment, which is taken away at once', async () => {
    const watched = await open(`${tap.url}#token=${token}`);
    expect(watched.page.url()).toBe(tap.url);
    await linked(watched, 'connected');
    await slowed(watched);
    const shown = await readBoard(watched.page);
    expect(comparable(shown)).toEqual(expectedBoard(tap.stateAt(shown.atMs)));
    expect(tap.streams.at(-1)?.authorization).toBe(`Bearer ${token}`);
    expect(await watched.page.evaluate('history.length')).toBe(2);
    expect(watched.asked.filter((url) => url.includes('correct'))).toEqual([]);
  });

  it('takes no token that a header cannot hold', async () => {
    const watched = await open(`${tap.url}#token=%E2%98%83`);
    await linked(watched, 'denied');
    expect(await watched.page.textContent('#token-refused')).toContain('refused');
    expect(await watched.problems()).toEqual([]);
  });
});

describe('the page', () => {
  it.each([
    ['light', 360],
    ['dark', 360],
    ['light', 1200],
    ['dark', 1200],
  ] as const)('fits and can be read, %s, %d px wide', async (colorScheme, width) => {
    const watched = await open(tap.url, { colorScheme, width });
    await slowed(watched);
    expect(await watched.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      width,
    );
    const faint = (await watched.page.evaluate(FAINT_TEXTS)) as string[];
    expect(faint).toEqual([]);
    expect(await watched.page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
      colorScheme === 'dark' ? 'rgb(20, 24, 31)' : 'rgb(255, 255, 255)',
    );
    expect(await watched.page.evaluate('document.getAnimations().length')).toBe(0);
  });

  it('is reached by the keyboard', async () => {
    const watched = await open(tap.url);
    await slowed(watched);
    const reached: string[] = [];
    for (let presses = 0; presses < 4; presses++) {
      await watched.page.keyboard.press('Tab');
      reached.push(
        (await watched.page.evaluate(
          `(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent)`,
        )) as string,
      );
    }
    expect(reached).toContain('Filter slowed tables');
    expect(reached).toContain('Filter events');
  });

  it('is under a policy that runs nothing else', async () => {
    const watched = await open(tap.url);
    await linked(watched, 'connected');
    const tried = await watched.page.evaluate(`(() => {
      try { document.body.innerHTML = '<b>x</b>'; return 'written'; } catch { return 'refused'; }
    })()`);
    expect(tried).toBe('refused');
    await watched.page.evaluate(`(() => {
      const script = document.createElement('script');
      try { script.textContent = 'globalThis.ran = true'; } catch {}
      document.body.append(script);
    })()`);
    expect(await watched.page.evaluate('globalThis.ran')).toBeUndefined();
    expect(dashboardPage().contentSecurityPolicy).not.toContain('unsafe');
  });

  it('is small, and painted soon', async () => {
    const { html } = dashboardPage();
    expect(Buffer.byteLength(html)).toBeLessThan(150_000);
    const watched = await open(tap.url);
    await linked(watched, 'connected');
    const paints = (await watched.page.evaluate(
      `performance.getEntriesByType('paint').map(({ name, startTime }) => [name, startTime])`,
    )) as [string, number][];
    const first = paints.find(([name]) => name === 'first-contentful-paint')?.[1];
    expect(first).toBeGreaterThan(0);
    process.stdout.write(
      `dashboard: ${Buffer.byteLength(html)} bytes, first contentful paint after ${first?.toFixed(0)} ms\n`,
    );
    // One document, one state or stream; nothing from elsewhere.
    for (const url of watched.asked)
      expect(url.startsWith(tap.url) || url.startsWith('data:')).toBe(true);
  });
});

/** Texts whose contrast with what is behind them is below 4.5. */
const FAINT_TEXTS = `(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = channels(colour).map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (channels(colour)[3] !== 0) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const faint = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!own || !element.checkVisibility() || element.closest('script, style, noscript')) continue;
    const style = getComputedStyle(element);
    const ink = element.closest('svg') ? style.fill : style.color;
    const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) faint.push(element.textContent.slice(0, 30) + ' ' + contrast.toFixed(2));
  }
  return [...new Set(faint)];
})()`;
