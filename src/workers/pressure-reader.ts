/** Reads the pressure windows of all buckets from the arena, for a snapshot; asks no thread. */
import type { Arena } from '../shared/arena.js';
import type { KeyDirectory } from '../shared/key-directory.js';
import { LatencyHistogram } from '../shared/latency-histogram.js';
import { PRESSURE_STATS } from '../shared/layout.js';
import { BUCKET_SPACE, WindowCells } from '../shared/pressure/window-cells.js';
import { unpackWindow } from '../shared/pressure/window-word.js';
import type { PressureSnapshot, PressureTotalsSnapshot } from './snapshot.js';

export interface PressureReader {
  read(nowNs: number): {
    readonly pressure: readonly PressureSnapshot[];
    readonly pressureTotals: PressureTotalsSnapshot;
  };
}

/** Windows that a snapshot shows one by one. */
export const MOST_WINDOWS = 1000;

/** `directory`: of (rpc, table) pairs, which also holds the buckets. */
export function createPressureReader(arena: Arena, directory: KeyDirectory): PressureReader {
  const { layout, f64, buffer } = arena;
  const cells = new WindowCells(buffer);
  const waits = new LatencyHistogram(buffer, layout.pressureWait);
  const places = Array.from(
    { length: layout.capacity.threads },
    (_, index) => layout.thread(index).pressure,
  );
  const sum = (event: keyof typeof PRESSURE_STATS): number =>
    places.reduce((all, place) => all + (f64[(place + PRESSURE_STATS[event]) >>> 3] as number), 0);

  return {
    read(nowNs) {
      let open = 0;
      const shown: PressureSnapshot[] = [];
      directory.visit((index, _generation, space) => {
        if (space !== BUCKET_SPACE) return;
        const cell = directory.cellAt(index);
        const window = unpackWindow(cells.word(cell));
        if (window === undefined || window.endNs <= nowNs) return;
        open += 1;
        // By cell, which a bucket keeps while its window is open: the next snapshot shows the same ones.
        if (shown.length === MOST_WINDOWS) return;
        shown.push({
          bucket: directory.describe(cell).key,
          pressure: window.pressure,
          remainingMs: (window.endNs - nowNs) / 1e6,
        });
      });
      return {
        pressure: shown.sort((a, b) => (a.bucket < b.bucket ? -1 : 1)),
        pressureTotals: {
          open,
          signals: sum('SIGNALS'),
          untracked: sum('UNTRACKED'),
          refused: sum('REFUSED'),
          waiting: sum('WAITING'),
          wait: waits.snapshot(),
        },
      };
    },
  };
}
