import { describe, expect, it } from 'vitest';
import type { CallOptions } from '../../src/workers/call-options.js';
import { BAD_NUMBERS } from '../shared/bad-numbers.js';
import { createVirtualGates } from './virtual-gate.js';

const gates = createVirtualGates({ host: { rpcs: { read: { qpsPerCore: 0 } } } });
const gate = gates.gate();

const refusal = (options: object, attempt: unknown = () => 'ran'): Promise<unknown> =>
  gate.call({ rpc: 'read', ...options } as CallOptions, attempt as () => string).then(
    (value) => value,
    (error: unknown) => error,
  );

describe.each([
  'maxWaitMs',
  'attemptTimeoutMs',
  'deadlineMs',
  'weight',
  'retry.maxAttempts',
  'retry.baseDelayMs',
  'retry.maxDelayMs',
  'retry.maxRetryAfterMs',
])('%s', (field) => {
  const nested = (value: unknown): object =>
    field.startsWith('retry.') ? { retry: { [field.slice(6)]: value } } : { [field]: value };

  it.each(BAD_NUMBERS)('refuses %s before anything happens', async (_, value) => {
    const error = await refusal(nested(value));
    expect(error).toBeInstanceOf(Error);
    expect(['TypeError', 'RangeError']).toContain((error as Error).name);
    expect((error as Error).message).toMatch(new RegExp(`^${field} must be .*, got `));
  });
});

it.each([
  [{ retry: true }, /^retry must be an object or false, got true/],
  [{ retry: null }, /^retry must be an object or false, got null/],
  [{ retry: { attempts: 3 } }, /^retry.attempts is no option, there are maxAttempts, /],
  [
    { retry: { toString: 1 } },
    /^retry.toString is no option, there are maxAttempts, baseDelayMs, /,
  ],
  [{ maxwaitMs: 1 }, /^maxwaitMs is no option, there are rpc, table, address, .*, explain$/],
  [{ timeout: 1 }, /^timeout is no option/],
  [{ retries: 3, weight: 1 }, /^retries is no option/],
  [{ retry: { maxAttempts: 101 } }, /from 1 to 100, got 101/],
  [{ retry: { maxAttempts: 1.5 } }, /from 1 to 100, got 1.5/],
  [{ retry: { on: 'busy' } }, /^retry.on must be an array of /],
  [{ retry: { on: ['success'] } }, /'refused', got 'success'/],
  [{ retry: { on: [null] } }, /got null/],
  [{ explain: 1 }, /^explain must be true or false, got 1/],
  [{ address: 5 }, /^address must be a string that names a peer, got 5/],
  [{ address: '' }, /^address must be a string/],
  [{ classify: {} }, /^classify must be a function/],
  [{ onRetry: 1 }, /^onRetry must be a function, got 1/],
  [{ signal: {} }, /^signal must be an AbortSignal/],
  [{ attemptTimeoutMs: 86_400_001 }, /from 0 to 86400000, got 86400001/],
  [{ bucket: '' }, /^bucket must be a string that names a bucket, got ''/],
  [{ bucket: 7 }, /^bucket must be a string that names a bucket, got 7/],
  [{ rpc: 'nope' }, /^rpc must be one of read, got 'nope'/],
])('%j is refused', async (options, message) => {
  const error = (await refusal(options)) as Error;
  expect(error).toBeInstanceOf(Error);
  expect(error.message).toMatch(message);
});

it('knows all of its options', async () => {
  const options: Required<CallOptions> = {
    rpc: 'read',
    table: 1,
    address: 'peer:80',
    bucket: 'shard-1',
    weight: 1,
    signal: new AbortController().signal,
    maxWaitMs: 1,
    classify: () => 'success',
    retry: { maxAttempts: 1, baseDelayMs: 1, maxDelayMs: 1, maxRetryAfterMs: 1, on: ['busy'] },
    onRetry: () => undefined,
    attemptTimeoutMs: 0,
    deadlineMs: 0,
    explain: true,
  };
  expect(await refusal(options)).toMatchObject({ value: 'ran' });
});

it('refuses what is no options object, and what is no attempt', async () => {
  for (const options of [undefined, null, 5, 'read']) {
    const call = gate.call(options as never, () => 1);
    await expect(call).rejects.toThrow(/^options must be an object with an rpc, got /);
  }
  expect(await refusal({}, null)).toMatchObject({ name: 'TypeError' });
});

it('takes undefined for not given, and leaves the caller’s object as it was', async () => {
  const options = Object.freeze({
    rpc: 'read',
    table: undefined,
    address: undefined,
    signal: undefined,
    retry: Object.freeze({ maxAttempts: undefined, on: undefined }),
    attemptTimeoutMs: undefined,
  });
  expect(await refusal(options)).toBe('ran');
});

it('has counted nothing and holds nothing for what it refused', () => {
  const { rpcs, conservation } = gates.snapshot();
  expect(rpcs[0]).toMatchObject({ calls: 2, refused: 0 });
  expect(conservation).toMatchObject({ ok: true, held: 0 });
});
