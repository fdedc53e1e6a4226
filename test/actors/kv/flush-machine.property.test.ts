import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  blockFlush,
  claimFlush,
  closeFlush,
  failFlush,
  finishFlush,
  idleFlush,
  progressFlush,
  requestFlush,
  retryFlush,
} from '../../../src/actors/kv/flush-machine.js';

type Op = 'request' | 'claim' | 'progress' | 'finish' | 'blocked' | 'retry' | 'fail' | 'close';

const params = { minRetryMs: 10, maxRetryMs: 1000 };
const op = fc.record({
  kind: fc.constantFrom<Op>(
    ...(['request', 'request', 'claim', 'claim', 'progress', 'finish'] as const),
    ...(['blocked', 'retry', 'retry', 'fail', 'close'] as const),
  ),
  offset: fc.nat(30),
});

describe('the flush machine', () => {
  it('does what a machine with plain fields does', () => {
    fc.assert(
      fc.property(fc.array(op, { maxLength: 80 }), (ops) => {
        let state = idleFlush();
        const naive = {
          phase: 'idle',
          requested: 0,
          flushed: 0,
          tasks: 0,
          delay: 10,
          closed: false,
        };
        for (const { kind, offset } of ops) {
          const needsRun = kind === 'progress' || kind === 'finish' || kind === 'blocked';
          if (needsRun && !naive.closed && naive.phase !== 'running') {
            expect(() => {
              if (kind === 'progress') progressFlush(state, offset);
              else if (kind === 'finish') finishFlush(state, offset);
              else blockFlush(state, params);
            }).toThrow('no flush is running');
            continue;
          }
          switch (kind) {
            case 'request':
              state = requestFlush(state, offset);
              if (naive.closed || offset <= naive.flushed) break;
              naive.requested = Math.max(naive.requested, offset);
              if (naive.phase === 'idle') {
                naive.phase = 'queued';
                naive.tasks += 1;
              }
              break;
            case 'claim': {
              const claim = claimFlush(state);
              state = claim.state;
              expect(claim.claimed).toBe(naive.phase === 'queued');
              if (naive.phase === 'queued') naive.phase = 'running';
              break;
            }
            case 'progress':
            case 'finish':
              state = kind === 'finish' ? finishFlush(state, offset) : progressFlush(state, offset);
              if (naive.closed) break;
              naive.flushed = Math.max(naive.flushed, offset);
              naive.delay = 10;
              if (kind === 'progress') break;
              naive.phase = naive.requested > naive.flushed ? 'queued' : 'idle';
              if (naive.phase === 'queued') naive.tasks += 1;
              break;
            case 'blocked': {
              const block = blockFlush(state, params);
              state = block.state;
              expect(block.retryInMs).toBe(naive.closed ? undefined : naive.delay);
              if (naive.closed) break;
              naive.phase = 'storage_blocked';
              naive.delay = Math.min(naive.delay * 2, 1000);
              break;
            }
            case 'retry':
              state = retryFlush(state);
              if (naive.phase !== 'storage_blocked') break;
              naive.phase = 'queued';
              naive.tasks += 1;
              break;
            case 'fail':
              state = failFlush(state);
              naive.phase = 'idle';
              break;
            case 'close':
              state = closeFlush(state);
              naive.phase = 'idle';
              naive.closed = true;
          }
          expect(state).toMatchObject({
            phase: naive.phase,
            requested: naive.requested,
            flushed: naive.flushed,
            enqueued: naive.tasks,
          });
        }
      }),
    );
  });

  it('still retries after ten thousand refusals', () => {
    let state = requestFlush(idleFlush(), 1);
    for (let i = 0; i < 10_000; i += 1) {
      const block = blockFlush(claimFlush(state).state, params);
      expect(block.retryInMs).toBeLessThanOrEqual(1000);
      state = retryFlush(block.state);
    }
    expect(state.phase).toBe('queued');
  });
});
