/** Reads the circuits of all addresses from the arena, for a snapshot; asks no thread. */
import type { Arena } from '../shared/arena.js';
import { CircuitCells } from '../shared/breaker/circuit-cells.js';
import { viewCircuit } from '../shared/breaker/circuit-view.js';
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

type Counted = Record<CircuitSnapshot['state'], number>;

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
      const counted: Counted = { closed: 0, open: 0, half_open: 0 };
      const found: CircuitSnapshot[] = [];
      directory.visit((index) => {
        const cell = directory.cellAt(index);
        const state = cells.stateOf(cell, cells.word(cell));
        if (!isTracked(state)) return;
        const view = viewCircuit(state, breaker, nowMs, cells.salt(cell));
        counted[view.state] += 1;
        found.push({ address: directory.describe(cell).key, ...view });
      });
      return {
        circuits: shown(found),
        breaker: {
          tracked: found.length,
          closed: counted.closed,
          open: counted.open,
          halfOpen: counted.half_open,
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

/** Those that are not closed first, then by address, so that two snapshots show the same ones. */
function shown(circuits: CircuitSnapshot[]): CircuitSnapshot[] {
  const rank = ({ state }: CircuitSnapshot): number => (state === 'closed' ? 1 : 0);
  const order = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
  return circuits
    .sort((a, b) => rank(a) - rank(b) || order(a.address, b.address))
    .slice(0, MOST_CIRCUITS);
}
