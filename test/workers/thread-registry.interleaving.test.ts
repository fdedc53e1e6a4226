import { describe, expect, it } from 'vitest';
import { type Arena, createArena } from '../../src/shared/arena.js';
import { TooManyThreadsError } from '../../src/shared/errors.js';
import { type ClaimedPlace, ThreadRegistry } from '../../src/workers/thread-registry.js';
import { explore, type Scenario } from '../interleaving/explorer.js';
import type { Body } from '../interleaving/stepped-thread.js';

/** Two places, and what several threads do to them in every order. */
function scenario(
  prepare: (arena: Arena, registry: ThreadRegistry) => Omit<Scenario, 'buffer'>,
): () => Scenario {
  return () => {
    const { arena } = createArena({ threads: 2, rpcs: 1, pairs: 1 }, true);
    return { buffer: arena.buffer, ...prepare(arena, new ThreadRegistry(arena)) };
  };
}

const claim =
  (arena: Arena, threadId: number): Body =>
  (atomics) => {
    try {
      return new ThreadRegistry(arena, atomics).claim(threadId);
    } catch (error) {
      if (error instanceof TooManyThreadsError) return undefined;
      throw error;
    }
  };
const free =
  (arena: Arena, place: ClaimedPlace): Body =>
  (atomics) =>
    new ThreadRegistry(arena, atomics).free(place);
const abandon =
  (arena: Arena, place: ClaimedPlace, threadId: number): Body =>
  (atomics) =>
    new ThreadRegistry(arena, atomics).abandon(place, threadId);

/** Who has claimed a place has it: its name is there, and no memory is reused behind its back. */
function expectOwned(registry: ThreadRegistry, place: ClaimedPlace, threadId: number): void {
  expect(registry.claimOf(place.index)).toBe(place.claim);
  expect(registry.ownerOf(place.index)).toBe(threadId);
  expect(registry.quiescence.passed(registry.quiescence.request())).toBe(false);
}

describe('thread registry, in every order of the steps of its threads', () => {
  it('gives each claimant a place of its own, and one too many none', () => {
    explore(
      scenario((arena, registry) => ({
        threads: [11, 12, 13].map((threadId) => claim(arena, threadId)),
        checkEnd(results) {
          const places = results.filter((place) => place !== undefined) as ClaimedPlace[];
          expect(places.map(({ index }) => index).sort()).toEqual([0, 1]);
          expect(registry.attached()).toEqual([0, 1]);
          for (const [i, place] of results.entries())
            if (place !== undefined) expectOwned(registry, place as ClaimedPlace, 11 + i);
        },
      })),
    );
  });

  it('hands a place over whole while it is freed', () => {
    explore(
      scenario((arena, registry) => {
        const [old, other] = [registry.claim(1), registry.claim(2)];
        return {
          threads: [free(arena, old), claim(arena, 3), claim(arena, 4)],
          checkEnd([freed, ...claims]) {
            expect(freed).toBe(true);
            const taken = claims.flatMap((place, i) =>
              place === undefined ? [] : [[place, 3 + i]],
            );
            expect(taken.length).toBeLessThanOrEqual(1);
            for (const [place, threadId] of taken as [ClaimedPlace, number][]) {
              expect(place).toEqual({ index: old.index, claim: old.claim + 2 });
              expectOwned(registry, place, threadId);
            }
            expectOwned(registry, other, 2);
          },
        };
      }),
    );
  });

  it('frees nothing by an old claim, whoever has the place by now', () => {
    explore(
      scenario((arena, registry) => {
        const old = registry.claim(1);
        expect(registry.free(old)).toBe(true);
        return {
          threads: [free(arena, old), claim(arena, 3), abandon(arena, old, 1)],
          checkEnd([freed, place]) {
            expect(freed).toBe(false);
            expectOwned(registry, place as ClaimedPlace, 3);
          },
        };
      }),
    );
  });

  it('takes nobody else’s name away when a thread abandons its place as it is freed and claimed anew', () => {
    explore(
      scenario((arena, registry) => {
        const old = registry.claim(1);
        return {
          threads: [abandon(arena, old, 1), free(arena, old), claim(arena, 3)],
          checkEnd([, freed, claimed]) {
            expect(freed).toBe(true);
            expectOwned(registry, claimed as ClaimedPlace, 3);
          },
        };
      }),
    );
  });

  it('leaves a place that can be freed and claimed when a thread is killed anywhere inside', () => {
    explore(
      scenario((arena, registry) => {
        const old = registry.claim(1);
        return {
          threads: [claim(arena, 2), free(arena, old), abandon(arena, old, 1)],
          mortal: [0, 1],
          checkEnd() {
            // What the control thread, or its successor, does when it looks around.
            for (const index of registry.attached())
              registry.free({ index, claim: registry.claimOf(index) });
            expect(registry.attached()).toEqual([]);
            expect(registry.quiescence.passed(registry.quiescence.request())).toBe(true);
            expectOwned(registry, registry.claim(9), 9);
          },
        };
      }),
    );
  });
});
