import { describe, expect, it } from 'vitest';
import { KV_SERVER_USAGE, readKvServerArguments } from '../../src/adapters/kv-server-arguments.js';

describe('the arguments of kv:server', () => {
  it('leave every default to the store', () => {
    expect(readKvServerArguments(['--dir', 'd', '--port', '0'])).toEqual({
      store: { dir: 'd', rocksdb: {}, tablet: {} },
      host: '127.0.0.1',
      port: 0,
      advertise: undefined,
      metricsPort: undefined,
      drainMs: 5000,
    });
  });

  it('are all understood', () => {
    const line =
      '--dir d --port 5 --host 0.0.0.0 --advertise a:5 --tables t:8,u:1 --metrics-port 6 ' +
      '--write-buffer-size 65536 --max-write-buffers 6 --max-background-jobs 2 ' +
      '--l0-slowdown-trigger 4 --max-pending-bytes 1000 --flush-threads 3 --engine-threads 2 ' +
      '--log-checkpoint-bytes 1000 --ignore-stalls --drain-ms 10';
    expect(readKvServerArguments(line.split(' '))).toEqual({
      store: {
        dir: 'd',
        tables: { t: 8, u: 1 },
        rocksdb: {
          writeBufferSize: 65_536,
          maxWriteBufferNumber: 6,
          maxBackgroundJobs: 2,
          ignoreStalls: true,
        },
        tablet: { l0SlowdownTrigger: 4, maxPendingBytes: 1000 },
        flushThreads: 3,
        engineThreads: 2,
        logCheckpointBytes: 1000,
      },
      host: '0.0.0.0',
      port: 5,
      advertise: 'a:5',
      metricsPort: 6,
      drainMs: 10,
    });
    for (const [flag] of line.matchAll(/--[a-z0-9-]+/g)) expect(KV_SERVER_USAGE).toContain(flag);
  });

  it('hold no timer beyond a day', () => {
    expect(() =>
      readKvServerArguments(['--dir', 'd', '--port', '0', '--drain-ms', '2147483648']),
    ).toThrow('--drain-ms must be from 0 to 86400000, got 2147483648');
  });

  it.each(['-1', '1.5', 'NaN', '1e3', ''])('--flush-threads %j is refused', (bad) => {
    expect(() =>
      readKvServerArguments(['--dir', 'd', '--port', '0', `--flush-threads=${bad}`]),
    ).toThrow('--flush-threads must be an integer >= 0');
  });
});
