import type { RetentionParams } from '../../shared/breaker/breaker-params.js';
import type {
  BreakerSettings,
  CallSettings,
  PeerSettings,
  PressureSettings,
} from '../../shared/settings.js';
import type { ClockKind, PresetName } from './options.js';

/** One RPC type. */
export interface ResolvedRpc {
  /** Calls per second and core; -1: as `host.qpsPerCore` says; 0: no limit. */
  readonly qpsPerCore: number;
  /** null: one second of the process' rate, rounded up. */
  readonly burst: number | null;
  readonly clock: ClockKind;
}

/** Every option with its value: checked, deeply frozen, plain data that crosses threads. */
export interface ResolvedConfig {
  /** A number where it is a safe integer. */
  readonly backendId: number | bigint | null;
  readonly preset: PresetName | null;
  readonly configFile: string | null;
  readonly host: {
    readonly enabled: boolean;
    readonly dryRun: boolean;
    readonly qpsPerCore: number;
    /** Every known RPC type. The order never changes while a runtime lives, newcomers come last. No prototype. */
    readonly rpcs: Readonly<Record<string, ResolvedRpc>>;
  };
  readonly tables: {
    readonly enabled: boolean;
    readonly dryRun: boolean;
    readonly windowMs: number;
    readonly upgradeIntervalMs: number;
    readonly downgradeIntervalMs: number;
    readonly topK: number;
    readonly ratio: number;
    readonly floorQps: number;
    readonly rpcs: readonly string[];
  };
  readonly waiting: { readonly maxWaitMs: number; readonly maxWaiters: number };
  readonly retry: CallSettings;
  readonly peers: PeerSettings;
  readonly breaker: BreakerSettings & RetentionParams;
  readonly pressure: PressureSettings;
  readonly capacity: { readonly threads: number; readonly rpcs: number; readonly pairs: number };
}
