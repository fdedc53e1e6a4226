import type { LogCut } from './log/log-store.js';

/** What happens to a store, apart from its answers. */
export type KvEvent =
  /** The end of the log had never been acknowledged as a whole, and was cut off at the start. */
  | { readonly kind: 'log-cut'; readonly cut: LogCut }
  /** A bucket takes nothing more: its engine, or the log, is broken. */
  | {
      readonly kind: 'tablet-failed';
      readonly table: string;
      readonly bucket: number;
      readonly error: unknown;
    }
  /** `l0SlowdownTrigger` is not below the engine's: no pressure is reported before writes are refused. */
  | {
      readonly kind: 'no-proactive-tier';
      readonly l0SlowdownTrigger: number;
      readonly engineTrigger: number;
    };

/** In a sentence. */
export function describeKvEvent(event: KvEvent): string {
  switch (event.kind) {
    case 'log-cut': {
      const { file, offset, bytes } = event.cut;
      return `cut ${bytes} bytes off ${file} at ${offset}: a group that was not acknowledged`;
    }
    case 'tablet-failed':
      return `bucket ${event.bucket} of ${event.table} failed: ${event.error instanceof Error ? event.error.message : String(event.error)}`;
    case 'no-proactive-tier':
      return (
        `l0SlowdownTrigger ${event.l0SlowdownTrigger} is not below the engine's ` +
        `${event.engineTrigger}: no pressure is reported before writes are refused`
      );
  }
}
