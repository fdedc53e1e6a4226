import { describe, expect, it } from 'vitest';
import { EventLogger } from '../../../src/workers/state/event-logger.js';
import type { Logger, LogLevel } from '../../../src/workers/state/logger.js';
import { throttleChange } from './sample-events.js';

type Line = readonly [LogLevel, Record<string, unknown>, string];

function recorder(): { logger: Logger; lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: LogLevel) => (fields: object, message: string) =>
    void lines.push([level, fields as Record<string, unknown>, message]);
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { logger, lines };
}

const refused = (rpc: string, n: number) =>
  ({ name: 'calls-refused', event: { rpc, stage: 'host', refused: n } }) as const;

describe('the log of events', () => {
  it('gives the logger fields and a message, at the level of the event', () => {
    const { logger, lines } = recorder();
    new EventLogger(logger).write(refused('read', 3), 0);
    expect(lines).toEqual([
      [
        'warn',
        { event: 'calls-refused', rpc: 'read', stage: 'host', refused: 3 },
        'read: 3 calls refused by the host-level limit',
      ],
    ]);
  });

  it('writes one line a second about an RPC type, and counts the others in the next', () => {
    const { logger, lines } = recorder();
    const log = new EventLogger(logger);
    for (let ms = 0; ms < 3000; ms += 100) {
      log.write({ name: 'upgrade', event: throttleChange(['write']) }, ms);
      if (ms < 1000) log.write(refused('read', ms), ms);
    }
    expect(lines.map(([, { rpc, suppressed }]) => [rpc, suppressed])).toEqual([
      ['write', undefined],
      ['read', undefined],
      ['write', 9],
      ['write', 9],
    ]);
    log.write({ name: 'closed', event: {} }, 3000);
    expect(lines.slice(4)).toEqual([
      ['info', { event: 'closed' }, 'runtime closed'],
      [
        'warn',
        { event: 'suppressed', subject: 'rpc write', suppressed: 9 },
        'rpc write: 9 lines held back',
      ],
      [
        'warn',
        { event: 'suppressed', subject: 'rpc read', suppressed: 9 },
        'rpc read: 9 lines held back',
      ],
    ]);
  });

  it('writes one line a second about a kind of event that has no RPC type', () => {
    const { logger, lines } = recorder();
    const log = new EventLogger(logger);
    for (let i = 0; i < 500; i += 1) {
      const event = { address: `10.0.0.${i}:1`, reason: 'failures', failures: 3 } as const;
      log.write({ name: 'circuit-open', event: { ...event, retryAfterMs: 5, atMs: i } }, i);
      log.write({ name: 'config', event: { version: i } }, i);
    }
    expect(lines.map(([, { event }]) => event)).toEqual(['circuit-open', 'config']);
  });

  it('is harmed by no logger: one that throws, that rejects, that gives a broken promise', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    try {
      const broken: Logger = {
        debug: () => undefined,
        info: () => Promise.reject(new Error('full')),
        get error(): never {
          throw new Error('no such level');
        },
        warn: () => {
          throw new Error('full');
        },
      };
      const log = new EventLogger(broken);
      log.write({ name: 'config', event: { version: 1 } }, 0);
      log.write(refused('read', 1), 0);
      const restart = { generation: 2, restarts: 1, level: 0, reason: '' };
      log.write({ name: 'control-restart', event: restart }, 0);
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });

  it('calls the logger as its methods', () => {
    class Own implements Logger {
      readonly #said: string[] = [];
      get said(): readonly string[] {
        return this.#said;
      }
      debug(_: object, message: string): void {
        this.#said.push(message);
      }
      info(_: object, message: string): void {
        this.#said.push(message);
      }
      warn(_: object, message: string): void {
        this.#said.push(message);
      }
      error(_: object, message: string): void {
        this.#said.push(message);
      }
    }
    const own = new Own();
    new EventLogger(own).write({ name: 'closed', event: {} }, 0);
    expect(own.said).toEqual(['runtime closed']);
  });

  it('keeps no more than one count for each subject, however long it goes on', () => {
    const { logger, lines } = recorder();
    const log = new EventLogger(logger);
    for (let ms = 0; ms < 60_000; ms += 10) log.write(refused('read', 1), ms);
    const counted = lines.reduce((sum, [, { suppressed }]) => sum + 1 + Number(suppressed ?? 0), 0);
    expect(lines).toHaveLength(60);
    expect(counted).toBe(5901);
  });
});
