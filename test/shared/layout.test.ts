import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUCKET_BYTES, STATS_BYTES } from '../../src/shared/kernel/port.js';
import { keyDirectoryBytes } from '../../src/shared/key-directory.js';
import { histogramBytes } from '../../src/shared/latency-histogram.js';
import {
  CALL_STATS_BYTES,
  type Capacity,
  HEADER_BYTES,
  layOut,
  NAME_BYTES,
  PEER_STATS_BYTES,
  RING_RECORDS,
} from '../../src/shared/layout.js';
import { ringBytes } from '../../src/shared/message-ring.js';
import { quiescenceBytes } from '../../src/shared/quiescence.js';

interface Region {
  readonly name: string;
  readonly from: number;
  readonly bytes: number;
}

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Every region of an arena, as the layout's own functions place it. */
function regions(capacity: Capacity): Region[] {
  const layout = layOut(capacity);
  const found: Region[] = [{ name: 'header', from: 0, bytes: HEADER_BYTES }];
  const add = (name: string, from: number, bytes: number): void => {
    found.push({ name, from, bytes });
  };
  for (const rpc of range(capacity.rpcs)) {
    add(`name ${rpc}`, layout.name(rpc), NAME_BYTES);
    add(`bucket ${rpc}`, layout.bucket(rpc, false), BUCKET_BYTES);
    add(`shadow ${rpc}`, layout.bucket(rpc, true), BUCKET_BYTES);
    for (const kind of ['host', 'table', 'dryRun'] as const)
      add(`waits ${rpc} ${kind}`, layout.waits(rpc, kind), histogramBytes());
  }
  for (const place of range(capacity.threads)) {
    const { header, scratch, shadowStats, ring, peers, stats, calls } = layout.thread(place);
    add(`header ${place}`, header, 64);
    add(`scratch ${place}`, scratch, 64);
    add(`shadow stats ${place}`, shadowStats, STATS_BYTES);
    add(`peers ${place}`, peers, PEER_STATS_BYTES);
    add(`ring ${place}`, ring, ringBytes(RING_RECORDS));
    for (const rpc of range(capacity.rpcs)) {
      add(`stats ${place} ${rpc} host`, stats(rpc, 'host'), STATS_BYTES);
      add(`calls ${place} ${rpc}`, calls(rpc), CALL_STATS_BYTES);
      add(`stats ${place} ${rpc} table`, stats(rpc, 'table'), STATS_BYTES);
    }
  }
  add('quiescence', layout.quiescence, quiescenceBytes(capacity.threads));
  add('directory', layout.directory, keyDirectoryBytes(capacity.pairs));
  return found;
}

describe('layOut', () => {
  it('gives every region words of its own, aligned, within the arena', () => {
    fc.assert(
      fc.property(
        fc.record({
          threads: fc.integer({ min: 1, max: 8 }),
          rpcs: fc.integer({ min: 1, max: 9 }),
          pairs: fc.integer({ min: 1, max: 300 }),
        }),
        (capacity) => {
          const sorted = regions(capacity).sort((a, b) => a.from - b.from);
          let end = 0;
          for (const { name, from, bytes } of sorted) {
            expect([name, from >= end]).toEqual([name, true]);
            expect([name, from % (name.startsWith('name') ? 16 : 64)]).toEqual([name, 0]);
            end = from + bytes;
          }
          expect(end).toBeLessThanOrEqual(layOut(capacity).bytes);
          expect(layOut(capacity).bytes % 64).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('takes at most 256 bytes for each tracked pair, and 2 MiB for the rest of the default arena', () => {
    const { bytes, directory } = layOut({ threads: 64, rpcs: 64, pairs: 100_000 });
    expect((bytes - directory) / 100_000).toBeLessThanOrEqual(256);
    expect(directory).toBeLessThan(2 * 2 ** 20);
  });
});
