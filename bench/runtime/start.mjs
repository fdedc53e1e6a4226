// From createRuntime() to the first attach(), and what importing the package costs before that.
import { performance } from 'node:perf_hooks';

export async function measure() {
  const before = performance.now();
  const { createRuntime, attach } = await import('../../dist/index.js');
  const imported = performance.now();
  const runtime = await createRuntime({ preset: 'dorisMetaService' });
  const created = performance.now();
  const gate = attach(runtime.handle());
  const attached = performance.now();
  if (!gate.tryAcquire('commit_rowset')) throw new Error('the first permit was refused');
  await runtime.close();
  return {
    importMs: imported - before,
    createMs: created - imported,
    attachMs: attached - created,
    createToAttachMs: attached - imported,
  };
}
