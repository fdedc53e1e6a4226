import type { Runtime } from 'spillway';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DemoOptionError } from '../../demo/option-values.js';
import { aborted, serveDashboard } from '../../demo/serve-dashboard.js';

const said: string[] = [];
beforeEach(() => {
  said.length = 0;
  vi.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
});

const listening = (listen: (options: { port: number }) => Promise<{ url: string }>) =>
  ({ admin: { listen } }) as unknown as Runtime;

it('says where the dashboard is', async () => {
  const listen = vi.fn(async () => ({ url: 'http://127.0.0.1:4711' }));
  await serveDashboard(listening(listen), 4711);
  expect(listen).toHaveBeenCalledExactlyOnceWith({ port: 4711 });
  expect(said).toEqual(['dashboard: http://127.0.0.1:4711/']);
});

it('takes a port that is in use for a bad option', async () => {
  const runtime = listening(() => Promise.reject(new Error('the port is in use')));
  const refused: unknown = await serveDashboard(runtime, 80).catch((error) => error);
  expect(refused).toBeInstanceOf(DemoOptionError);
  expect((refused as Error).message).toBe(
    "--serve must be a port that is free, got '80': the port is in use",
  );
});

it('stays until it is interrupted', async () => {
  const interrupt = new AbortController();
  const waiting = aborted(interrupt.signal);
  const first = await Promise.race([waiting.then(() => 'over'), Promise.resolve('waiting')]);
  expect(first).toBe('waiting');
  interrupt.abort();
  await waiting;
  await aborted(interrupt.signal);
});
