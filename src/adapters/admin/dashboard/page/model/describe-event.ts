import type { RecordedEvent } from '../../../../../workers/state/runtime-state.js';
import { openReason } from './circuits.js';
import type { Formats } from './formats.js';

/** How an event shows in the log: `tone` goes with a word, never alone. */
export interface EventLine {
  readonly tone: 'bad' | 'warn' | 'good' | 'quiet';
  /** Not yet made visible: it holds names of others. */
  readonly text: string;
}

const CLOSED: Readonly<Record<string, string>> = {
  probed: 'probe succeeded',
  'by-hand': 'closed by hand',
  idle: 'forgotten, nothing was heard of it',
  evicted: 'forgotten, to make room',
  off: 'circuit breaker switched off',
};

export function describeEvent({ name, event }: RecordedEvent, formats: Formats): EventLine {
  switch (name) {
    case 'upgrade':
    case 'downgrade':
    case 'lifted': {
      const limits = event.actions.map((action) =>
        action.type === 'set_limit'
          ? `${action.rpc}/${action.table} to ${formats.rate(action.qpsLimit)}`
          : `${action.rpc}/${action.table} free`,
      );
      const what = limits.length === 0 ? 'no table' : limits.join(', ');
      return { tone: name === 'upgrade' ? 'bad' : 'good', text: `level ${event.level}: ${what}` };
    }
    case 'circuit-open':
      return {
        tone: 'bad',
        text: `${event.address}: ${openReason(event.reason)} (${event.failures}), probe in ${formats.duration(event.retryAfterMs)}`,
      };
    case 'circuit-half-open':
      return { tone: 'warn', text: `${event.address}: one call tries it` };
    case 'circuit-closed':
      return { tone: 'good', text: `${event.address}: ${CLOSED[event.reason] ?? event.reason}` };
    case 'config':
      return { tone: 'quiet', text: `version ${event.version} in force` };
    case 'thread-attached':
      return {
        tone: 'quiet',
        text: `thread ${event.threadId}, ${event.threads} attached now`,
      };
    case 'thread-ended':
      return {
        tone: 'quiet',
        text: `${event.threadId === null ? 'a thread' : `thread ${event.threadId}`}, ${event.threads} attached now`,
      };
    case 'control-restart': {
      const reason = event.reason === '' ? '' : `: ${event.reason}`;
      return { tone: 'warn', text: `control thread ${event.generation} has taken over${reason}` };
    }
    case 'kernel-fallback':
      return { tone: 'warn', text: event.reason };
    case 'closed':
      return { tone: 'quiet', text: 'the runtime has been closed' };
    case 'directory-full':
      return {
        tone: 'warn',
        text: `${event.calls} calls went through uncounted: all ${event.capacity} pairs are in use`,
      };
    case 'addresses-full':
      return { tone: 'warn', text: `no room for ${event.failures} failures of further addresses` };
    case 'ring-drops':
      return { tone: 'warn', text: `the control thread is behind by ${event.records} records` };
    case 'calls-refused': {
      const limit = event.stage === 'host' ? 'host-level limit' : 'limits of tables';
      return { tone: 'bad', text: `${event.rpc}: ${limit} refused ${event.refused} calls` };
    }
    default:
      return unknownEvent(event);
  }
}

/** Each known kind has its words; the page of an older tab may meet a newer backend. */
function unknownEvent(event: never): EventLine {
  return { tone: 'quiet', text: JSON.stringify(event) };
}
