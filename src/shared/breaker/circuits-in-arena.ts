import type { Arena } from '../arena.js';
import { HEADER } from '../layout.js';
import { type CircuitMemory, cellsFor, openCircuitMemory } from './circuit-memory.js';

/** A thread's view of the circuits of a runtime. */
export function circuitsInArena({ buffer, layout }: Arena): CircuitMemory {
  return openCircuitMemory({
    buffer,
    base: layout.circuits,
    cells: cellsFor(layout.capacity.addresses ?? 1),
    epoch: HEADER.CIRCUIT_EPOCH,
  });
}
