import { getEventListeners } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { AttemptTimeoutError, RuntimeClosedError } from '../../src/shared/errors.js';
import type { Gate } from '../../src/workers/gate.js';
import type { Classifier } from '../../src/workers/outcome.js';
import type {
  PeerContext,
  PeerRead,
  PeerReadOptions,
} from '../../src/workers/peer-read-options.js';
import { BAD_NUMBERS } from '../shared/bad-numbers.js';
import { createVirtualGates, ended, type VirtualGates } from './virtual-gate.js';

const [A, B, C] = ['10.0.0.1:80', '10.0.0.2:80', '10.0.0.3:80'] as const;

let gates: VirtualGates;
let gate: Gate;
/** What each peer does when it is asked; one that is not here hangs. */
let peers: Map<string, (context: PeerContext) => unknown>;
let asked: string[];
beforeEach(() => {
  gates = createVirtualGates({
    host: { rpcs: { read: { qpsPerCore: 10, burst: 1 } } },
    breaker: { failureThreshold: 2, cooldownMs: 1000 },
  });
  gate = gates.gate();
  peers = new Map();
  asked = [];
});

const serves = (address: string) => peers.set(address, () => address);
const fails = (address: string, error: unknown = new Error('down')) =>
  peers.set(address, () => {
    throw error;
  });
const takes = (address: string, ms: number) =>
  peers.set(
    address,
    () => new Promise((resolve) => gates.time.setTimer(ms, () => resolve(address))),
  );

function read(options: Partial<PeerReadOptions<string>> = {}): Promise<PeerRead<string>> {
  return gate.readFromPeers<string>(
    { candidates: [A, B, C], ...options },
    async (address, context) => {
      asked.push(address);
      const answer = peers.get(address);
      if (answer === undefined) return new Promise(() => undefined);
      return (await answer(context)) as string;
    },
    () => 'fallback',
  );
}
const done = (options: Partial<PeerReadOptions<string>> = {}) => ended(gates, read(options));

describe('candidates whose circuit is closed', () => {
  it('are asked in order until one serves', async () => {
    fails(A);
    serves(B);
    const { value, source, attempts, open } = await done();
    expect(value).toBe(B);
    expect(source).toEqual({ kind: 'peer', address: B });
    expect(asked).toEqual([A, B]);
    expect(attempts).toMatchObject([
      { address: A, verdict: 'failure', probe: false, error: new Error('down') },
      { address: B, verdict: 'success', probe: false },
    ]);
    expect(open).toEqual([]);
  });

  it('leave the read to the fallback when none serves; it hears why', async () => {
    for (const address of [A, B, C]) fails(address);
    let heard: unknown;
    const result = await gate.readFromPeers(
      { candidates: [A, B] },
      (address) => Promise.reject(new Error(address)),
      ({ attempts, signal }) => {
        heard = { attempts: attempts.map(({ error }) => (error as Error).message), signal };
        return 'fallback';
      },
    );
    expect(result).toMatchObject({ value: 'fallback', source: { kind: 'fallback' } });
    expect(heard).toEqual({ attempts: [A, B], signal: undefined });
  });

  it('count once, however often and in whatever spelling they are named', async () => {
    fails('peer:80');
    await done({ candidates: ['peer:80', 'PEER:80', 'peer:80'] });
    expect(asked).toEqual(['peer:80']);
  });

  it('may be none at all', async () => {
    expect(await done({ candidates: [] })).toMatchObject({ source: { kind: 'fallback' } });
  });

  it('that answer with an internal error have failed, though the transport worked', async () => {
    serves(A);
    serves(B);
    const classify: Classifier<string> = (outcome) =>
      outcome.ok && outcome.value === B ? 'success' : 'failure';
    for (let i = 0; i < 3; i += 1) {
      expect((await done({ classify })).source).toEqual({ kind: 'peer', address: B });
    }
    expect(asked).toEqual([A, B, A, B, B]);
    expect(gate.breaker(A).state().state).toBe('open');
  });

  it('that are busy, or say when to come back, are no failures, and the next one is asked', async () => {
    serves(A);
    serves(C);
    const classify: Classifier<string> = (outcome) =>
      outcome.ok && outcome.value === C ? 'success' : { kind: 'refused', retryAfterMs: 5 };
    for (let i = 0; i < 3; i += 1) {
      const { source } = await done({ candidates: [A, C], classify });
      expect(source).toEqual({ kind: 'peer', address: C });
    }
    expect(gate.breaker(A).state().state).toBe('closed');
  });

  it('serve with an answer that says nothing about them', async () => {
    serves(A);
    const { source } = await done({ classify: () => 'ignored' });
    expect(source).toEqual({ kind: 'peer', address: A });
  });
});

describe('the time to connect', () => {
  it('is 200 ms without another try, then the next candidate is asked', async () => {
    serves(B);
    const { attempts } = await done();
    expect(asked).toEqual([A, B]);
    expect(gates.time.nowMs).toBe(200);
    expect(attempts[0]?.error).toBeInstanceOf(AttemptTimeoutError);
    expect(attempts[0]?.error).toMatchObject({ phase: 'connect', timeoutMs: 200 });
  });

  it('may be had again, per read or by configuration', async () => {
    const two = await done({ candidates: [A], connectTimeoutMs: 50, connectRetries: 1 });
    expect(two.attempts).toHaveLength(2);
    expect(gates.time.nowMs).toBe(100);
    gates.configure({ peers: { connectTimeoutMs: 10, connectRetries: 2 } });
    const three = await done({ candidates: [B] });
    expect(three.attempts.map(({ error }) => (error as AttemptTimeoutError).attempt)).toEqual([
      1, 2,
    ]);
    expect(three.open).toEqual([B]);
  });

  it('is not had again by who was connected, or failed', async () => {
    fails(A);
    await done({ candidates: [A], connectRetries: 3 });
    expect(asked).toEqual([A]);
  });

  it('ends when the read says that it is connected', async () => {
    peers.set(A, async ({ connected, connectTimeoutMs }) => {
      expect(connectTimeoutMs).toBe(200);
      await new Promise<void>((resolve) => gates.time.setTimer(150, resolve));
      connected();
      await new Promise<void>((resolve) => gates.time.setTimer(5000, resolve));
      return 'slow';
    });
    expect((await done()).value).toBe('slow');
    expect(gates.time.pendingTimers).toBe(0);
  });

  it('gives way to the time of the whole attempt', async () => {
    peers.set(A, ({ connected }) => {
      connected();
      return new Promise(() => undefined);
    });
    serves(B);
    const { attempts } = await done({ attemptTimeoutMs: 500 });
    expect(attempts[0]?.error).toMatchObject({ phase: 'attempt', timeoutMs: 500 });
    expect(gates.time.nowMs).toBe(500);
    const short = await done({ candidates: [C], attemptTimeoutMs: 30 });
    expect(short.attempts[0]?.error).toMatchObject({ phase: 'attempt', timeoutMs: 30 });
  });
});

describe('an open circuit', () => {
  const openA = async () => {
    fails(A);
    serves(B);
    await done();
    await done();
    asked = [];
  };

  it('passes its candidate over: no attempt, no miss, and it stays a candidate', async () => {
    await openA();
    const candidates = [A, B];
    const before = gates.snapshot();
    const { open, attempts, source } = await done({ candidates });
    expect(asked).toEqual([B]);
    expect(open).toEqual([A]);
    expect(attempts).toHaveLength(1);
    expect(source).toEqual({ kind: 'peer', address: B });
    expect(candidates).toEqual([A, B]);
    const { peerReads } = gates.snapshot();
    expect(peerReads).toMatchObject({
      attempts: before.peerReads.attempts + 1,
      misses: before.peerReads.misses,
      open: before.peerReads.open + 1,
    });
  });

  it('is probed once its cooldown is over, after those that are closed', async () => {
    await openA();
    await gates.time.advanceToAsync(gates.time.nowMs + 1000);
    expect((await done()).source).toEqual({ kind: 'peer', address: B });
    expect(asked).toEqual([B]);
    fails(B);
    fails(C);
    serves(A);
    const { source, attempts } = await done();
    expect(source).toEqual({ kind: 'peer', address: A });
    expect(attempts.at(-1)).toEqual({ address: A, verdict: 'success', probe: true });
    expect(gate.breaker(A).state().state).toBe('closed');
  });

  it('may be probed in its place among the candidates', async () => {
    await openA();
    await gates.time.advanceToAsync(gates.time.nowMs + 1000);
    serves(A);
    const { source, attempts } = await done({ probe: 'inOrder' });
    expect(source).toEqual({ kind: 'peer', address: A });
    expect(attempts).toEqual([{ address: A, verdict: 'success', probe: true }]);
  });

  it('costs a read one probe at most', async () => {
    for (const address of [A, B, C]) fails(address);
    await done();
    await done();
    await gates.time.advanceToAsync(gates.time.nowMs + 1000);
    asked = [];
    const { attempts, open, source } = await done();
    expect(asked).toEqual([A]);
    expect(attempts).toMatchObject([{ address: A, probe: true, verdict: 'failure' }]);
    expect(open).toEqual([B, C]);
    expect(source).toEqual({ kind: 'fallback' });
  });

  it('whose probe is out in another thread is passed over', async () => {
    await openA();
    await gates.time.advanceToAsync(gates.time.nowMs + 1000);
    const permit = gates.gate().breaker(A).admit();
    expect(permit.isProbe).toBe(true);
    const { open } = await done({ candidates: [A] });
    expect(open).toEqual([A]);
    permit.success();
    serves(A);
    expect((await done({ candidates: [A] })).source).toEqual({ kind: 'peer', address: A });
  });

  it('is none where the breaker is switched off', async () => {
    await openA();
    gates.configure({ breaker: { enabled: false } });
    await done();
    expect(asked).toEqual([A, B]);
  });
});

describe('a race', () => {
  it('asks all at once; the fastest answer wins and the others are cancelled, no failures', async () => {
    takes(A, 100);
    takes(B, 20);
    const { source, attempts } = await done({ race: true });
    expect(asked).toEqual([A, B, C]);
    expect(source).toEqual({ kind: 'peer', address: B });
    expect(attempts).toEqual([{ address: B, verdict: 'success', probe: false }]);
    expect(gates.time.nowMs).toBe(20);
    await gates.time.advanceToAsync(1000);
    for (const address of [A, C]) {
      expect(gate.breaker(address).state()).toMatchObject({ consecutiveFailures: 0 });
    }
    expect(gates.time.pendingTimers).toBe(0);
  });

  it('is not won by a failure', async () => {
    fails(A);
    takes(B, 20);
    fails(C);
    expect((await done({ race: true })).source).toEqual({ kind: 'peer', address: B });
  });

  it('that nobody wins goes to the fallback', async () => {
    for (const address of [A, B, C]) fails(address);
    expect(await done({ race: true })).toMatchObject({ source: { kind: 'fallback' } });
  });

  it('tells the losers by their signals', async () => {
    let heard: unknown;
    peers.set(
      A,
      ({ signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            heard = signal.reason;
            reject(heard as Error);
          }),
        ),
    );
    takes(B, 10);
    await done({ race: true });
    await gates.time.settleAsync();
    expect(heard).toMatchObject({ name: 'AbortError', message: 'another candidate was faster' });
  });
});

describe('the caller’s signal', () => {
  it('ends the read, candidates and fallback alike, and leaves no listener', async () => {
    for (const race of [false, true]) {
      const abort = new AbortController();
      let fellBack = false;
      const hang = ({ signal }: PeerContext) =>
        new Promise<string>((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('cut off'))),
        );
      const one = gate.readFromPeers<string>(
        { candidates: [A, B], signal: abort.signal, race },
        (_, context) => hang(context),
        () => {
          fellBack = true;
          return 'fallback';
        },
      );
      one.catch(() => undefined);
      await gates.time.advanceToAsync(gates.time.nowMs + 50);
      abort.abort('gone');
      await expect(ended(gates, one)).rejects.toBe('gone');
      expect(fellBack).toBe(false);
      expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
      expect(gate.breaker(A).state()).toMatchObject({ consecutiveFailures: 0 });
    }
    expect(gates.time.pendingTimers).toBe(0);
  });

  it('that is aborted already asks nobody', async () => {
    await expect(read({ signal: AbortSignal.abort('before') })).rejects.toBe('before');
    expect(asked).toEqual([]);
  });
});

describe('callbacks that throw', () => {
  it('read: the candidate has failed', async () => {
    const result = await gate.readFromPeers(
      { candidates: [A, B] },
      (address) => {
        if (address === A) throw new TypeError('a bug');
        return address;
      },
      () => 'fallback',
    );
    expect(result.source).toEqual({ kind: 'peer', address: B });
  });

  it('fallback: the read fails with it', async () => {
    for (const fallback of [
      () => Promise.reject(new Error('no store')),
      () => expect.fail('no store'),
    ]) {
      const one = gate.readFromPeers({ candidates: [] }, () => 1, fallback as () => never);
      await expect(one).rejects.toThrow('no store');
    }
  });

  it('the classifier: the read fails with it, the permit is settled', async () => {
    serves(A);
    const classify = (): never => {
      throw new Error('classifier bug');
    };
    for (const race of [false, true]) {
      await expect(done({ classify, race })).rejects.toThrow('classifier bug');
    }
    expect(gate.breaker(A).state()).toMatchObject({ state: 'open' });
  });
});

describe('with an RPC type', () => {
  it('each try pays its limits; a refusal sends the read to the fallback and blames no peer', async () => {
    fails(A);
    serves(B);
    const { source, attempts } = await done({ rpc: 'read', maxWaitMs: 50 });
    expect(source).toEqual({ kind: 'fallback' });
    expect(attempts).toHaveLength(1);
    expect(gates.snapshot().rpcs[0]).toMatchObject({ calls: 1, refused: 1 });
    const patient = await done({ rpc: 'read' });
    expect(patient.source).toEqual({ kind: 'peer', address: B });
    expect(gates.snapshot().rpcs[0]).toMatchObject({ calls: 3, spent: 3 });
    expect(gates.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });
});

describe('the patience of a read with an RPC type', () => {
  // A permit each 100 ms.
  beforeEach(() => expect(gate.tryAcquire('read')).toBe(true));

  it('is one for all tries of its candidates', async () => {
    for (const address of [A, B, C]) fails(address);
    const { source, attempts } = await done({ rpc: 'read', maxWaitMs: 150 });
    expect(source).toEqual({ kind: 'fallback' });
    expect(attempts).toMatchObject([{ address: A }]);
    expect(gates.time.nowMs).toBe(100);
    expect(gates.snapshot().conservation).toMatchObject({ ok: true, held: 0 });
  });

  it('is not used up by the candidates themselves', async () => {
    peers.set(A, async ({ connected }) => {
      connected();
      await new Promise<void>((resolve) => gates.time.setTimer(150, resolve));
      throw new Error('down');
    });
    fails(B);
    serves(C);
    const { source, attempts } = await done({ rpc: 'read', maxWaitMs: 200 });
    expect(source).toEqual({ kind: 'peer', address: C });
    expect(attempts).toHaveLength(3);
    // 100 to A, at once to B, 100 to C.
    expect(gates.time.nowMs).toBe(350);
  });

  it('is what a race waits, not the sum over its candidates', async () => {
    for (const address of [A, B]) fails(address);
    serves(C);
    const { source } = await done({ rpc: 'read', maxWaitMs: 300, race: true });
    expect(source).toEqual({ kind: 'peer', address: C });
    expect(gates.time.nowMs).toBe(300);
  });
});

describe('a runtime that closes', () => {
  it('takes no new reads', async () => {
    gates.close();
    await expect(read()).rejects.toBeInstanceOf(RuntimeClosedError);
  });

  it('lets a read under way end by its fallback', async () => {
    const one = read();
    await gates.time.advanceToAsync(100);
    gates.close();
    expect((await ended(gates, one)).source).toEqual({ kind: 'fallback' });
    expect(asked).toEqual([A]);
  });
});

describe('bad options', () => {
  it.each([
    [undefined, /^options must be an object with candidates/],
    [
      { candidates: A },
      /^candidates must be an array of at most 1000 addresses, got '10.0.0.1:80'/,
    ],
    [{ candidates: [5] }, /address/],
    [{ candidates: [''] }, /address/],
    [{ candidates: [], timeoutMs: 1 }, /^timeoutMs is no option, there are candidates, signal, /],
    [{ candidates: [], race: 1 }, /^race must be true or false/],
    [{ candidates: [], probe: 'first' }, /^probe must be 'last' or 'inOrder', got 'first'/],
    [{ candidates: [], classify: 1 }, /^classify must be a function/],
    [{ candidates: [], signal: {} }, /^signal must be an AbortSignal/],
    [{ candidates: [], rpc: 5 }, /^rpc must be a string/],
    [{ candidates: [], rpc: 'nope' }, /^rpc must be one of read, got 'nope'/],
    [{ candidates: [], connectRetries: 1.5 }, /^connectRetries must be an integer from 0 to 100/],
  ])('%j', async (options, message) => {
    const one = gate.readFromPeers(
      options as never,
      () => 1,
      () => 1,
    );
    await expect(one).rejects.toThrow(message);
  });

  it.each(['connectTimeoutMs', 'connectRetries', 'attemptTimeoutMs', 'deadlineMs', 'maxWaitMs'])(
    '%s that is no number of its range',
    async (field) => {
      for (const [, value] of BAD_NUMBERS) {
        await expect(read({ [field]: value })).rejects.toThrow(new RegExp(`^${field} must be `));
      }
    },
  );

  it('callbacks that are none', async () => {
    await expect(gate.readFromPeers({ candidates: [] }, 5 as never, () => 1)).rejects.toThrow(
      /^read must be a function/,
    );
    await expect(
      gate.readFromPeers({ candidates: [] }, () => 1, undefined as never),
    ).rejects.toThrow(/^fallback must be a function/);
  });
});
