import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { Pauses } from '../../src/workers/pauses.js';
import { createVirtualHost } from './virtual-host.js';

it('ends at its time', async () => {
  const host = createVirtualHost();
  const pauses = new Pauses(host);
  let ended = -1;
  const pause = pauses.until(30e6, undefined).then(() => {
    ended = host.time.nowMs;
  });
  expect(pauses.size).toBe(1);
  await host.time.advanceToAsync(100);
  await pause;
  expect(ended).toBe(30);
  expect(pauses.size).toBe(0);
});

it('ends by its signal at once, with its reason and without a trace', async () => {
  const host = createVirtualHost();
  const pauses = new Pauses(host);
  const abort = new AbortController();
  const all = Array.from({ length: 50 }, () => pauses.until(30e6, abort.signal));
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
  abort.abort('gone');
  for (const pause of all) await expect(pause).rejects.toBe('gone');
  await expect(pauses.until(30e6, abort.signal)).rejects.toBe('gone');
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  expect(pauses.size).toBe(0);
  expect(host.time.pendingTimers).toBe(0);
});

it('ends with all others when the thread leaves', async () => {
  const host = createVirtualHost();
  const pauses = new Pauses(host);
  const { signal } = new AbortController();
  const all = [pauses.until(30e6, signal), pauses.until(5e6, undefined)];
  pauses.endAll(new Error('closed'));
  for (const pause of all) await expect(pause).rejects.toThrow('closed');
  // An attempt that was under way may want another one.
  await expect(pauses.until(8e9, undefined)).rejects.toThrow('closed');
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  expect(host.time.pendingTimers).toBe(0);
});
