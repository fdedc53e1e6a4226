// What a runtime costs while nobody uses it. The process has nothing else to do.
import { setTimeout as pause } from 'node:timers/promises';
import { createRuntime } from '../../dist/index.js';

const SETTLE_MS = 1000;
const MEASURED_MS = 5000;

/** Share of one core. */
async function cpuShare() {
  await pause(SETTLE_MS);
  const before = process.cpuUsage();
  const start = performance.now();
  await pause(MEASURED_MS);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / (performance.now() - start);
}

/** @param {'precise' | 'coarse'} clock */
async function withLimiter(clock) {
  const runtime = await createRuntime({
    host: { rpcs: { bench: { qpsPerCore: 1000, clock } } },
    tables: { enabled: true, rpcs: ['bench'] },
  });
  runtime.gate.limiter('bench').tryAcquire();
  const share = await cpuShare();
  await runtime.close();
  return share;
}

export async function measure() {
  const processAlone = await cpuShare();
  const off = await createRuntime({ preset: 'dorisMetaService' });
  off.gate.tryAcquire('commit_rowset');
  const idle = await cpuShare();
  await off.close();
  return {
    processAlone,
    idle,
    tablesEnabled: await withLimiter('precise'),
    coarseLimiter: await withLimiter('coarse'),
  };
}
