import type { StreamSink } from '../../../src/adapters/admin/event-streams.js';
import type { RecordedEvent, RuntimeState } from '../../../src/workers/state/runtime-state.js';

export interface Frame {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** The frames of a text in the form of server-sent events; comments and what is not whole yet are left out. */
export function framesOf(text: string): Frame[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const fields = new Map(
        block.split('\n').map((line) => {
          const [name = '', ...value] = line.split(': ');
          return [name, value.join(': ')];
        }),
      );
      const data = fields.get('data');
      return data === undefined
        ? []
        : [{ event: fields.get('event') ?? 'message', id: fields.get('id'), data }];
    });
}

export const statesOf = (text: string): RuntimeState[] =>
  framesOf(text).flatMap(({ event, data }) => (event === 'state' ? [JSON.parse(data)] : []));

export const recordsOf = (text: string): RecordedEvent[] =>
  framesOf(text).flatMap(({ event, data }) => (event === 'record' ? [JSON.parse(data)] : []));

/** What a browser would send as `Last-Event-ID` after this text. */
export const lastIdOf = (text: string): string | undefined =>
  framesOf(text).findLast(({ id }) => id !== undefined)?.id;

export interface FakeClient extends StreamSink {
  text(): string;
  /** Takes nothing from now on. */
  stall(): void;
  readonly ending: '' | 'dropped' | 'ended';
}

export function fakeClient(): FakeClient {
  let taken = '';
  let waiting = '';
  let isStalled = false;
  let ending: FakeClient['ending'] = '';
  return {
    write(frame) {
      if (ending !== '') throw new Error('it has ended');
      waiting += frame.toString();
      if (isStalled) return;
      taken += waiting;
      waiting = '';
    },
    pendingBytes: () => waiting.length,
    drop() {
      ending = 'dropped';
    },
    end() {
      ending = 'ended';
    },
    text: () => taken,
    stall() {
      isStalled = true;
    },
    get ending() {
      return ending;
    },
  };
}
