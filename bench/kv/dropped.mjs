// 10,000 throttled buckets that metadata no longer names: what is left of them.
import { KvWriterCore } from '../../dist/actors/kv/writer/kv-writer-core.js';
import { resolveWriterConfig } from '../../dist/actors/kv/writer/writer-config.js';

const BUCKETS = 10_000;

export async function measure() {
  let buckets = BUCKETS;
  const metadata = () => ({
    tables: [
      {
        name: 't',
        buckets: Array.from({ length: buckets }, (_, bucket) => ({ bucket, leader: 'a:1' })),
      },
    ],
  });
  let nowMs = 0;
  /** @type {() => void} */
  let wake = () => {};
  const core = new KvWriterCore(
    resolveWriterConfig({
      lingerMs: 0,
      pressure: { maxThrottleMs: 3_600_000 },
      metadataRefreshMs: 1000,
    }),
    {
      nowMs: () => nowMs,
      soon: queueMicrotask,
      turn: setImmediate,
      random: Math.random,
      watch: () => () => {},
      timer: {
        arm: (_, run) => {
          wake = run;
        },
        disarm: () => {},
      },
      transport: {
        put: ({ bucket }, done) => {
          const result = {
            bucket,
            errorCode: 0,
            errorMessage: '',
            logEndOffset: 1,
            pressure: 0.99,
          };
          queueMicrotask(() => done({ kind: 'response', response: { buckets: [result] } }));
        },
        describe: (_, done) =>
          queueMicrotask(() => done({ kind: 'response', response: metadata() })),
        retain: () => {},
        close: () => {},
      },
    },
  );
  core.start();
  const key = Buffer.from('k');
  const puts = [];
  for (let bucket = 0; bucket < BUCKETS; bucket += 1)
    puts.push(core.put('t', key, key, { bucket }));
  await Promise.all(puts);
  const throttled = core.stats().windows;
  if (throttled !== BUCKETS) throw new Error(`${throttled} of ${BUCKETS} are throttled`);
  buckets = 0;
  nowMs = 2000;
  const start = performance.now();
  wake();
  await new Promise((resolve) => setImmediate(resolve));
  const elapsedMs = performance.now() - start;
  return { throttled, left: core.stats().windows, elapsedMs };
}
