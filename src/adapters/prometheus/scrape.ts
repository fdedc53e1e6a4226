/** What all metrics of one collection are read from: one snapshot, and what does not change. */
import { packageVersion } from '../../workers/package-version.js';
import type { RuntimeSnapshot } from '../../workers/snapshot.js';
import type { ProcessFacts, Scrape } from './metric-spec.js';
import { shownTables } from './shown-tables.js';

/** What metrics are read from: a runtime, or what a test plays. */
export interface MetricsSource {
  snapshot(): RuntimeSnapshot;
  readonly kernel?: 'wasm' | 'twin';
  config?(): { readonly backendId: number | bigint | null };
}

/** @throws RangeError */
export function checkMaxTableLabels(maxTableLabels: number): number {
  if (Number.isSafeInteger(maxTableLabels) && maxTableLabels >= 0) return maxTableLabels;
  throw new RangeError(`maxTableLabels must be an integer >= 0, got ${maxTableLabels}`);
}

/** Takes a snapshot at each call. Once the runtime is closed, the last one stays. */
export function createScrape(runtime: MetricsSource, maxTableLabels: number): () => Scrape {
  const facts = processFacts(runtime);
  let startedAt: number | undefined;
  let last: Scrape | undefined;
  return () => {
    try {
      const snapshot = runtime.snapshot();
      // Once: the wall clock may be set anew, the start stays.
      startedAt ??= (Date.now() - snapshot.atMs) / 1e3;
      last = { snapshot, tables: shownTables(snapshot, maxTableLabels), facts, startedAt };
    } catch (error) {
      // A closed runtime has no more to say; a scrape must not fail for it.
      if (last === undefined) throw error;
    }
    return last;
  };
}

function processFacts(runtime: MetricsSource): ProcessFacts {
  const backendId = runtime.config?.().backendId;
  return {
    version: packageVersion(),
    kernel: runtime.kernel ?? 'unknown',
    node: process.versions.node,
    backendId: backendId === undefined || backendId === null ? undefined : String(backendId),
  };
}
