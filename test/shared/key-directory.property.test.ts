import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DirectoryKeeper } from '../../src/shared/directory-keeper.js';
import { KeyDirectory, keyDirectoryBytes } from '../../src/shared/key-directory.js';
import { QuiescenceWords, quiescenceBytes } from '../../src/shared/quiescence.js';
import { canonicalKey, type TableKey } from '../../src/shared/table-key.js';
import { ThreadKeyCache } from '../../src/shared/thread-key-cache.js';

type Step =
  | { kind: 'look up' | 'find' | 'remove' | 'keep'; space: number; key: TableKey }
  | { kind: 'maintain'; budget: number }
  | { kind: 'pass' | 'migrate' | 'sweep' | 'new keeper' };

const key: fc.Arbitrary<TableKey> = fc.oneof(
  fc.nat({ max: 12 }),
  fc.nat({ max: 12 }).map(BigInt),
  fc.nat({ max: 12 }).map(String),
  fc.constantFrom(-1, 2 ** 53 - 1, 2n ** 63n, '\ud800', '\udc00x', 'é'.repeat(64), 'é'.repeat(65)),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }),
);
const about = (kind: 'look up' | 'find' | 'remove' | 'keep'): fc.Arbitrary<Step> =>
  fc.record({ space: fc.constantFrom(0, 1, 0xffff), key }).map((pair) => ({ kind, ...pair }));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: about('look up') },
  { weight: 2, arbitrary: about('find') },
  { weight: 5, arbitrary: about('remove') },
  { weight: 1, arbitrary: about('keep') },
  {
    weight: 5,
    arbitrary: fc.constantFrom(1, 3, 100).map((budget) => ({ kind: 'maintain', budget }) as const),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('pass', 'pass', 'migrate', 'sweep', 'new keeper')
      .map((kind) => ({ kind }) as Step),
  },
);

describe('KeyDirectory', () => {
  it('behaves as a map of bounded size, whatever the keeper does in between', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 150 }),
        fc.constantFrom(1, 3, 8, 33),
        (steps, capacity) => {
          const buffer = new SharedArrayBuffer(keyDirectoryBytes(capacity));
          const directory = new KeyDirectory(buffer, 0, capacity);
          const cache = new ThreadKeyCache(buffer, directory, 4);
          const quiescence = new QuiescenceWords(new SharedArrayBuffer(quiescenceBytes(1)), 0, 1);
          quiescence.pass(0);
          let keeper = new DirectoryKeeper(buffer, 0, capacity, quiescence);
          const cells = new Map<string, number>();
          let overflow = 0;

          const about = (kind: string, space: number, raw: TableKey): void => {
            const text = canonicalKey(raw);
            const name = `${space} ${text}`;
            const known = cells.get(name);
            expect(directory.find(space, text)).toBe(known ?? 0);
            if (kind === 'look up') {
              const cell = cache.lookup(space, raw);
              if (known !== undefined) expect(cell).toBe(known);
              else if (cell !== 0) cells.set(name, cell);
              else {
                overflow++;
                expect(directory.use().used).toBe(capacity);
              }
            } else if (known !== undefined && kind !== 'find') {
              const removed = keeper.remove(directory.indexOf(known), () => kind === 'keep');
              expect(removed).toBe(kind === 'remove');
              if (removed) cells.delete(name);
            }
          };

          for (const next of steps) {
            if ('key' in next) about(next.kind, next.space, next.key);
            else if (next.kind === 'maintain') keeper.maintain(next.budget);
            else if (next.kind === 'pass') quiescence.pass(0);
            else if (next.kind === 'migrate') keeper.migrate();
            else if (next.kind === 'sweep') keeper.sweep();
            else keeper = new DirectoryKeeper(buffer, 0, capacity, quiescence);
          }

          expect(new Set(cells.values()).size).toBe(cells.size);
          const live = new Map<string, number>();
          directory.visit((index) => {
            const cell = directory.cellAt(index);
            const { space, key: text, hashed } = directory.describe(cell);
            if (!hashed) live.set(`${space} ${text}`, cell);
            expect([...cells.values()]).toContain(cell);
          });
          for (const [name, cell] of live) expect(cells.get(name)).toBe(cell);
          expect(directory.use().overflow).toBe(overflow);
          // Everything that was removed comes back.
          quiescence.leave(0);
          for (let i = 0; keeper.maintain() !== 'idle'; i++) expect(i).toBeLessThan(1000);
          expect(directory.use().used).toBe(cells.size);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
