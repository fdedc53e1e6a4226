import type { RuntimeState, ThrottledPair } from '../../../../../workers/state/runtime-state.js';
import { type Board, highestPressure } from './board.js';
import type { Formats } from './formats.js';
import { throttleStack } from './throttle-stack.js';

/** A word of ours, or a name of others that is shown apart. */
export type HeadlinePart = string | { readonly name: string };

export interface Headline {
  /** `bad`: calls are slowed or refused; `warn`: they are about to be. */
  readonly tone: 'waiting' | 'calm' | 'warn' | 'bad';
  /** The most urgent first. */
  readonly sentences: readonly (readonly HeadlinePart[])[];
}

/** Stores slow their writers before they refuse them at 1. */
const HIGH_PRESSURE = 0.8;
/** It gives a sign of life once a second. */
const SILENT_MS = 5000;

/** What an operator has to know first, in words. */
export function headline(board: Board, formats: Formats): Headline {
  const { state } = board;
  if (state === undefined) {
    return { tone: 'waiting', sentences: [['Waiting for the first state of the backend']] };
  }
  const bad: HeadlinePart[][] = [];
  const warn: HeadlinePart[][] = [];
  const worst = board.throttled[0];
  const isRehearsed = state.runtime?.dryRun.tables === true;
  // In a dry run nobody waits.
  if (worst !== undefined) (isRehearsed ? warn : bad).push(slowed(board, state, worst, formats));
  bad.push(...circuits(state, formats));
  for (const { rpc, use, qpsLimit } of board.rates.filter(({ nearLimit }) => nearLimit)) {
    const at = ` sends ${formats.percent(use ?? 1)} of its host limit of ${formats.rate(qpsLimit)}`;
    warn.push([{ name: rpc }, at]);
  }
  const pressure = highestPressure(state);
  if (pressure >= HIGH_PRESSURE) warn.push([`storage pressure ${formats.percent(pressure)}`]);
  const silentMs = state.runtime?.controlSilentMs ?? 0;
  if (silentMs > SILENT_MS) {
    warn.push([`the control thread has been silent for ${formats.duration(silentMs)}`]);
  }
  if (state.runtime?.conservation.ok === false) warn.push(['permits do not add up']);

  if (bad.length > 0) return { tone: 'bad', sentences: [...bad, ...warn] };
  if (warn.length > 0) return { tone: 'warn', sentences: warn };
  const calm =
    state.runtime === null
      ? `storage pressure is ${formats.percent(pressure)}`
      : 'no table is slowed, no circuit is open';
  return { tone: 'calm', sentences: [[`All calm: ${calm}`]] };
}

function slowed(
  board: Board,
  state: RuntimeState,
  worst: ThrottledPair,
  formats: Formats,
): HeadlinePart[] {
  const { throttledTotal } = state;
  const parts: HeadlinePart[] = [
    `${countText(board, throttledTotal, formats)} ${state.runtime?.dryRun.tables ? 'would be slowed (dry run)' : 'slowed'}, `,
    throttledTotal === 1 ? '' : 'worst ',
    { name: worst.rpc },
    '/',
    { name: worst.table },
    ` at ${formats.rate(worst.qpsLimit)}`,
  ];
  if (worst.qpsBefore !== null) parts.push(`, down from ${formats.rate(worst.qpsBefore)}`);
  if (worst.sinceMs !== null) {
    const nowMs = Date.parse(state.now);
    const since = formats.time(nowMs - (state.atMs - worst.sinceMs), nowMs);
    parts.push(`, since ${since} (${formats.duration(state.atMs - worst.sinceMs)})`);
  }
  const { known } = throttleStack(board.history, state.runtime?.level ?? 0);
  // Of the upgrade that slowed it first, as is `since`; those after it go on from there.
  const reason = known.findLast(({ changes }) =>
    changes.some(({ rpc, table }) => rpc === worst.rpc && table === worst.table),
  )?.reason;
  if (reason !== undefined) parts.push(', because ', { name: reason });
  return parts.filter((part) => part !== '');
}

/** A table may be slowed in several RPC types. Of more pairs than the state lists, how many tables there are is not known. */
function countText(board: Board, pairs: number, formats: Formats): string {
  if (pairs > board.throttled.length) return `${formats.number(pairs)} pairs of RPC and table`;
  const tables = new Set(board.throttled.map(({ table }) => table)).size;
  const each = `${formats.number(tables)} ${tables === 1 ? 'table' : 'tables'}`;
  return tables === pairs ? each : `${each} (${formats.number(pairs)} pairs)`;
}

function circuits({ runtime }: RuntimeState, formats: Formats): HeadlinePart[][] {
  const refusing = (runtime?.circuits ?? []).filter(({ state }) => state !== 'closed');
  const count = (runtime?.breaker.open ?? 0) + (runtime?.breaker.halfOpen ?? 0);
  const [first] = refusing;
  if (first === undefined || count === 0) return [];
  const others = count > 1 ? ` and ${formats.number(count - 1)} more` : '';
  const word = count === 1 ? 'circuit' : 'circuits';
  return [[`${formats.number(count)} ${word} open: `, { name: first.address }, others]];
}
