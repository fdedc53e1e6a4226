/** What the page shows, read in one turn of the page, and what it ought to show of a state. */
import type { Page } from 'playwright-core';
import type { RuntimeState } from '../../../dist/workers/state/runtime-state.js';

export interface ShownBoard {
  readonly link: string;
  readonly atMs: number;
  readonly runtimeId: string;
  readonly seq: number;
  readonly level: string;
  readonly levelText: string;
  readonly configVersion: string;
  readonly configText: string;
  readonly slowedText: string;
  readonly busyMinuteText: string;
  readonly throttled: readonly Readonly<Record<string, string>>[];
  readonly hosts: readonly Readonly<Record<string, string>>[];
  readonly circuits: readonly Readonly<Record<string, string>>[];
  readonly stores: readonly Readonly<Record<string, string>>[];
  readonly upgrades: readonly Readonly<Record<string, string>>[];
}

const READ = `(() => {
  const board = document.getElementById('board');
  const rows = (selector) => [...document.querySelectorAll(selector)].map((row) => ({ ...row.dataset }));
  const figure = (id) => document.querySelector('[data-figure="' + id + '"] b')?.textContent;
  const { atMs, runtimeId, seq, level, configVersion } = board.dataset;
  return {
    link: document.documentElement.dataset.link,
    atMs: Number(atMs), runtimeId, seq: Number(seq), level, configVersion,
    levelText: figure('level'), configText: figure('config'), slowedText: figure('slowed'),
    busyMinuteText: figure('busy-minute'),
    throttled: rows('#slowed-tables tbody tr'),
    hosts: rows('#host-buckets tbody tr'),
    circuits: rows('#circuits tbody tr'),
    stores: rows('#storage tbody tr[data-l0]'),
    upgrades: rows('#level-and-busy tbody tr'),
  };
})()`;

export async function readBoard(page: Page): Promise<ShownBoard> {
  return (await page.evaluate(READ)) as ShownBoard;
}

const texts = (fields: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));

const byText = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
export const sorted = <Row extends object>(rows: readonly Row[]): Row[] => [...rows].sort(byText);

/** Of states with at most 20 rows of each kind, which is what the page shows unasked. */
export function expectedBoard(state: RuntimeState): Omit<ShownBoard, 'link' | 'seq' | 'upgrades'> {
  const { runtime, throttled, stores, throttledTotal, atMs, runtimeId } = state;
  if (runtime === null) throw new Error('a state of no runtime');
  return {
    atMs,
    runtimeId,
    level: String(runtime.level),
    levelText: String(runtime.level),
    configVersion: String(runtime.configVersion),
    configText: String(runtime.configVersion),
    slowedText: String(throttledTotal),
    busyMinuteText: new Intl.NumberFormat('en-GB').format(runtime.throttle.busy60s),
    throttled: sorted(throttled.map(({ changedMs: _changed, ...pair }) => texts(pair))),
    hosts: sorted(runtime.rpcs.map(({ rpc, qpsLimit }) => texts({ rpc, qpsLimit }))),
    circuits: sorted(
      runtime.circuits.map(({ address, state: circuit, consecutiveFailures }) =>
        texts({ address, state: circuit, failures: consecutiveFailures }),
      ),
    ),
    stores: sorted(
      stores.flatMap(({ name, tables }) =>
        tables.map(({ table, maxPressure, maxL0Files }) =>
          texts({ store: name, table, pressure: maxPressure, l0: maxL0Files }),
        ),
      ),
    ),
  };
}
