import { describe, expect, it } from 'vitest';
import { CircuitKeeper } from '../../../src/shared/breaker/circuit-keeper.js';
import {
  circuitMemoryBytes,
  openCircuitMemory,
} from '../../../src/shared/breaker/circuit-memory.js';
import { Circuits } from '../../../src/shared/breaker/circuits.js';
import { DirectoryKeeper } from '../../../src/shared/directory-keeper.js';
import { paramsOf } from './breaker-params.js';

const BASE = 64;
const CELLS = 8;
/** One thread: it is inside no operation when the keeper is at work. */
const NOBODY_INSIDE = { request: () => 0, passed: () => true };

function setUp() {
  const buffer = new SharedArrayBuffer(BASE + circuitMemoryBytes(CELLS));
  const memory = openCircuitMemory({ buffer, base: BASE, cells: CELLS, epoch: 0 });
  const directory = new DirectoryKeeper(buffer, BASE, CELLS, NOBODY_INSIDE);
  return { circuits: new Circuits(memory, 0), keeper: new CircuitKeeper(memory, directory) };
}

describe('the keeper of circuits', () => {
  it('forgets all that calls have done, and nothing that was opened by hand', () => {
    const { circuits, keeper } = setUp();
    const params = paramsOf({ failureThreshold: 1 });
    const [failed, isolated] = [circuits.placeOf('failed:1'), circuits.placeOf('isolated:1')];
    circuits.settle(failed.permit, 'failure', params, 1);
    circuits.isolate(isolated, 1);
    expect(keeper.clear().map(({ state }) => state.kind)).toEqual(['open']);
    expect(circuits.view(failed, params, 2).state).toBe('closed');
    expect(circuits.view(isolated, params, 2)).toMatchObject({ state: 'open', isolated: true });
    expect(circuits.admit(isolated, params, 1e9)).toMatchObject({ kind: 'refused' });
    circuits.close(isolated, 2);
    expect(keeper.clear()).toHaveLength(1);
    expect(keeper.list()).toEqual([]);
  });
});
