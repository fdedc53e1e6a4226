/** The part of the arena that circuits live in: a key directory of addresses, and what is left of those forgotten. */
import type { ArenaAtomics } from '../arena-atomics.js';
import { alignToLine } from '../cache-line.js';
import { KeyDirectory, keyDirectoryBytes } from '../key-directory.js';
import { ForgottenCircuits, forgottenCircuitsBytes } from './forgotten-circuits.js';

/** Cells for a number of addresses that may be tracked at once: a quarter more, for those that come while room is made. */
export const cellsFor = (maxAddresses: number): number => Math.ceil(maxAddresses * 1.25);

/** Arena bytes. All zero: every address is healthy. */
export const circuitMemoryBytes = (cells: number): number =>
  alignToLine(keyDirectoryBytes(cells)) + forgottenCircuitsBytes(cells);

export interface CircuitMemory {
  readonly buffer: SharedArrayBuffer;
  readonly cells: number;
  /** Byte offset of the directory. */
  readonly base: number;
  readonly directory: KeyDirectory;
  readonly forgotten: ForgottenCircuits;
  /** Byte offset of the epoch, i32. */
  readonly epoch: number;
  readonly atomics: ArenaAtomics;
}

export interface CircuitMemoryPlace {
  readonly buffer: SharedArrayBuffer;
  /** Byte offset of `circuitMemoryBytes(cells)` bytes, a multiple of 64. */
  readonly base: number;
  readonly cells: number;
  /** Byte offset of the epoch, i32. */
  readonly epoch: number;
}

/** One thread's view of it. */
export function openCircuitMemory(
  { buffer, base, cells, epoch }: CircuitMemoryPlace,
  atomics: ArenaAtomics = Atomics,
): CircuitMemory {
  const forgottenAt = base + alignToLine(keyDirectoryBytes(cells));
  return {
    buffer,
    base,
    cells,
    epoch,
    directory: new KeyDirectory(buffer, base, cells, atomics),
    forgotten: new ForgottenCircuits(buffer, forgottenAt, cells, atomics),
    atomics,
  };
}
