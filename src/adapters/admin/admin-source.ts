import type { ConfigPatch } from '../../workers/config/options.js';
import type { ResolvedConfig } from '../../workers/config/resolved-config.js';
import type { RuntimeHealth } from '../../workers/runtime-health.js';
import type { RuntimeSnapshot } from '../../workers/snapshot.js';
import type { RecordedEvent, RuntimeState } from '../../workers/state/runtime-state.js';
import type { StateOptions } from '../../workers/state/state-reader.js';

/** What the admin server needs of a runtime. */
export interface AdminSource {
  health(): RuntimeHealth;
  readonly configVersion: number;
  config(): ResolvedConfig;
  updateConfig(
    patch: ConfigPatch,
    options?: { readonly ifVersion?: number },
  ): Promise<{ readonly version: number }>;
  snapshot(): RuntimeSnapshot;
  state(options?: StateOptions): RuntimeState;
  /** Those that came after `sinceSeq` and are still known, oldest first. */
  recordedEvents(sinceSeq: number): readonly RecordedEvent[];
  /** @returns what ends it. */
  onRecorded(listener: (event: RecordedEvent) => void): () => void;
}
