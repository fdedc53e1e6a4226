/** How events read in a log: which level, which words, which fields. Pure. */
import type { LimitMove } from '../../actors/throttle/limit-move.js';
import { describeValue } from '../config/config-problem.js';
import type { ControlEvent, RuntimeEvents, ThrottleChange } from '../runtime-events.js';
import type { LogLevel } from './logger.js';
import { throttleReasonText } from './throttle-reason-text.js';

export interface EventLine {
  /** What the line is about: an RPC type, or a kind of event. At most one line a second is written about it. */
  readonly subject: string;
  readonly level: LogLevel;
  /** None is called `level`, `time`, `msg`, `pid` or `hostname`: those are the logger's own. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** Pairs that a line names. */
const MAX_PAIRS = 10;

const LEVELS: Readonly<Record<ControlEvent['name'], LogLevel>> = {
  upgrade: 'warn',
  downgrade: 'info',
  lifted: 'info',
  'circuit-open': 'warn',
  'circuit-half-open': 'debug',
  'circuit-closed': 'info',
  config: 'info',
  'thread-attached': 'debug',
  'thread-ended': 'debug',
  'control-restart': 'error',
  'kernel-fallback': 'warn',
  'directory-full': 'warn',
  'addresses-full': 'warn',
  'ring-drops': 'warn',
  'calls-refused': 'warn',
  closed: 'info',
};

/** One, or one for each RPC type that a change of limits is about. */
export function eventLines(told: ControlEvent): readonly EventLine[] {
  switch (told.name) {
    case 'upgrade':
    case 'downgrade':
    case 'lifted':
      return throttleLines(told.name, told.event);
    case 'calls-refused': {
      const { rpc, stage, refused } = told.event;
      const what = stage === 'host' ? 'by the host-level limit' : 'by limits of tables';
      return [line(told, `${rpc}: ${refused} calls refused ${what}`, `rpc ${rpc}`)];
    }
    case 'circuit-open':
      return [line(told, openMessage(told.event))];
    case 'circuit-half-open':
      return [line(told, `circuit of ${describeValue(told.event.address)}: one call tries it`)];
    case 'circuit-closed': {
      const { address, reason } = told.event;
      return [line(told, `circuit of ${describeValue(address)} closed (${reason})`)];
    }
    case 'config':
      return [line(told, `configuration ${told.event.version} in force`)];
    case 'thread-attached':
      return [line(told, `thread ${told.event.threadId} attached`)];
    case 'thread-ended': {
      const { threadId } = told.event;
      return [line(told, `${threadId === null ? 'a thread' : `thread ${threadId}`} ended`)];
    }
    case 'control-restart': {
      const { level: upgrades, ...event } = told.event;
      return [line({ name: told.name, event: { ...event, upgrades } }, 'control thread restarted')];
    }
    case 'kernel-fallback':
      return [line(told, 'no shared WebAssembly memory: the slower kernel is in use')];
    case 'directory-full':
      return [line(told, `no room for more pairs: ${told.event.calls} calls went uncounted`)];
    case 'addresses-full':
      return [
        line(told, `no room for more addresses: ${told.event.failures} failures not counted`),
      ];
    case 'ring-drops':
      return [
        line(told, `the control thread does not keep up: ${told.event.records} records lost`),
      ];
    case 'closed':
      return [line(told, 'runtime closed')];
  }
}

function openMessage(event: RuntimeEvents['circuit-open']): string {
  const { reason, failures, retryAfterMs } = event;
  const circuit = `circuit of ${describeValue(event.address)} open`;
  if (reason === 'by-hand') return `${circuit} by hand, until it is closed`;
  const cause = reason === 'failures' ? `${failures} failures` : reason.replace('-', ' ');
  return `${circuit} (${cause}), next try in ${Math.round(retryAfterMs)} ms`;
}

function line(
  { name, event }: { readonly name: ControlEvent['name']; readonly event: object },
  message: string,
  subject: string = name,
): EventLine {
  return { subject, level: LEVELS[name], fields: { event: name, ...event }, message };
}

function throttleLines(
  name: 'upgrade' | 'downgrade' | 'lifted',
  { level, reason, changes }: ThrottleChange,
): readonly EventLine[] {
  const why = throttleReasonText(reason);
  const common = { upgrades: level, reason: why };
  if (changes.length === 0) {
    const words = name === 'upgrade' ? 'no table was fast enough to be slowed' : 'no limit changed';
    return [line({ name, event: { ...common, pairs: [] } }, `${words} (${why})`)];
  }
  return [...byRpc(changes)].map(([rpc, moves]) => {
    const pairs = moves
      .slice(0, MAX_PAIRS)
      .map(({ table, before, after }) => ({ table, before, after }));
    const tables = moves.length === 1 ? '1 table' : `${moves.length} tables`;
    const words = name === 'upgrade' ? 'slowed' : name === 'downgrade' ? 'relaxed' : 'freed';
    const message = `${rpc}: ${tables} ${words}, ${level} upgrades in force (${why})`;
    return line(
      { name, event: { rpc, ...common, tables: moves.length, pairs } },
      message,
      `rpc ${rpc}`,
    );
  });
}

function byRpc(changes: readonly LimitMove[]): Map<string, LimitMove[]> {
  const groups = new Map<string, LimitMove[]>();
  for (const change of changes) {
    const group = groups.get(change.rpc);
    if (group === undefined) groups.set(change.rpc, [change]);
    else group.push(change);
  }
  return groups;
}
