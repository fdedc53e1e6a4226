/** Reads the circuits of all addresses from the arena, for a snapshot; asks no thread. */
import type { Arena } from '../shared/arena.js';
import { CircuitCells } from '../shared/breaker/circuit-cells.js';
import { type CircuitView, viewCircuit } from '../shared/breaker/circuit-view.js';
import { circuitsInArena } from '../shared/breaker/circuits-in-arena.js';
import { isTracked } from '../shared/breaker/retention.js';
import { CIRCUIT_STATS, CIRCUIT_TOTALS, HEADER } from '../shared/layout.js';
import { readSettings } from '../shared/settings.js';
import type { BreakerSnapshot, CircuitSnapshot } from './snapshot.js';

export interface CircuitReader {
  read(nowMs: number): {
    readonly circuits: readonly CircuitSnapshot[];
    readonly breaker: BreakerSnapshot;
  };
}

/** Circuits that a snapshot shows one by one: a dashboard's worth, and a bound for who scrapes them. */
export const MOST_CIRCUITS = 1000;

interface Found {
  readonly cell: number;
  readonly view: CircuitView;
}

export function createCircuitReader(arena: Arena): CircuitReader {
  const { layout, f64, buffer } = arena;
  const { directory } = circuitsInArena(arena);
  const cells = new CircuitCells(buffer);
  const places = Array.from({ length: layout.capacity.threads }, (_, index) =>
    layout.thread(index),
  );
  const float = (offset: number): number => f64[offset >>> 3] as number;
  const sum = (counter: keyof typeof CIRCUIT_STATS): number =>
    places.reduce((all, { circuits }) => all + float(circuits + CIRCUIT_STATS[counter]), 0);
  const upkeep = (total: keyof typeof CIRCUIT_TOTALS): number =>
    float(HEADER.CIRCUIT_TOTALS + CIRCUIT_TOTALS[total]);

  return {
    read(nowMs) {
      const { breaker } = readSettings(arena);
      const found: Record<CircuitView['state'], Found[]> = { closed: [], open: [], half_open: [] };
      directory.visit((index) => {
        const cell = directory.cellAt(index);
        const state = cells.stateOf(cell, cells.word(cell));
        if (!isTracked(state)) return;
        const view = viewCircuit(state, breaker, nowMs, cells.salt(cell));
        found[view.state].push({ cell, view });
      });
      const { closed, open, half_open: halfOpen } = found;
      // By cell, which a circuit keeps: the next snapshot shows the same ones.
      const shown = [...open, ...halfOpen, ...closed].slice(0, MOST_CIRCUITS);
      return {
        circuits: shown
          .map(({ cell, view }) => ({ address: directory.describe(cell).key, ...view }))
          .sort((a, b) => (a.address < b.address ? -1 : 1)),
        breaker: {
          tracked: closed.length + open.length + halfOpen.length,
          closed: closed.length,
          open: open.length,
          halfOpen: halfOpen.length,
          refused: sum('REFUSED'),
          opened: sum('OPENED'),
          recovered: sum('CLOSED'),
          probes: sum('PROBES'),
          probesLost: sum('PROBES_LOST') + upkeep('PROBES_LOST'),
          late: sum('LATE'),
          untracked: sum('UNTRACKED'),
          evicted: upkeep('EVICTED'),
        },
      };
    },
  };
}
