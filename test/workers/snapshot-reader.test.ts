import { expect, it } from 'vitest';
import { createVirtualGates } from './virtual-gate.js';

it('says which limits are only rehearsed', () => {
  const gates = createVirtualGates({ host: { rpcs: { read: {} } } });
  expect(gates.snapshot().dryRun).toEqual({ host: false, tables: false });
  gates.configure({ tables: { dryRun: true } });
  expect(gates.snapshot().dryRun).toEqual({ host: false, tables: true });
  gates.configure({ tables: { dryRun: false }, host: { dryRun: true } });
  expect(gates.snapshot().dryRun).toEqual({ host: true, tables: false });
});

it('counts the silence of the control thread only while one is due', () => {
  const gates = createVirtualGates({ host: { rpcs: { read: {} } } });
  gates.time.advanceBy(65_000);
  expect(gates.snapshot().controlSilentMs).toBe(65_000);
  gates.close();
  gates.time.advanceBy(65_000);
  expect(gates.snapshot()).toMatchObject({ atMs: 130_000, controlSilentMs: 0 });
});
