import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it } from 'vitest';
import { RUNTIME_EVENTS } from '../../../src/workers/runtime-events.js';
import { EventChannels } from '../../../src/workers/state/event-channels.js';
import { SAMPLE_EVENTS, sampleEvents } from './sample-events.js';

describe('the diagnostics channels', () => {
  it('are one for each kind of event, each told of its own', () => {
    const heard: unknown[] = [];
    const listener = (message: unknown, name: string | symbol): void =>
      void heard.push([name, message]);
    for (const name of RUNTIME_EVENTS) subscribe(`spillway:${name}`, listener);
    try {
      const channels = new EventChannels('runtime-1');
      for (const [i, event] of sampleEvents().entries()) channels.publish(event, i + 1, i * 10);
      expect(heard).toEqual(
        sampleEvents().map(({ name, event }, i) => [
          `spillway:${name}`,
          { runtimeId: 'runtime-1', seq: i + 1, atMs: i * 10, event },
        ]),
      );
      expect(heard).toHaveLength(Object.keys(SAMPLE_EVENTS).length);
    } finally {
      for (const name of RUNTIME_EVENTS) unsubscribe(`spillway:${name}`, listener);
    }
  });
});
