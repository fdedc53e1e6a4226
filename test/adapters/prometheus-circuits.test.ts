import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createPrometheusMetrics } from '../../src/adapters/prometheus.js';
import type { CircuitSnapshot } from '../../src/workers/snapshot.js';
import { snapshotSample } from './snapshot-sample.js';

const circuit = (address: string, state: CircuitSnapshot['state']): CircuitSnapshot => ({
  address,
  state,
  isolated: false,
  consecutiveFailures: 1,
  retryAfterMs: 0,
});

it('shows circuits of unhealthy addresses by address, and all of them by state', async () => {
  const sample = snapshotSample();
  const register = new Registry();
  const snapshot = snapshotSample({
    circuits: [circuit('a:1', 'open'), circuit('b"\\:1', 'half_open'), circuit('c:1', 'closed')],
    breaker: { ...sample.breaker, tracked: 2003, closed: 2001, open: 1, halfOpen: 1, late: 7 },
  });
  createPrometheusMetrics({ snapshot: () => snapshot }, { register });
  const lines = (await register.metrics()).split('\n').filter((l) => l.includes('circuit'));
  const values = lines.filter((line) => !line.startsWith('#') && !line.endsWith(' 0'));
  expect(values).toEqual([
    'spillway_circuits{state="closed"} 2001',
    'spillway_circuits{state="open"} 1',
    'spillway_circuits{state="half_open"} 1',
    'spillway_circuit_state{address="a:1"} 2',
    'spillway_circuit_state{address="b\\"\\\\:1"} 1',
    'spillway_circuits_not_shown 2000',
    'spillway_circuit_late_results_total 7',
  ]);
  expect(lines).toContain('spillway_circuit_state{address="c:1"} 0');
});
