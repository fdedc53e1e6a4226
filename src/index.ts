export type { LimitAction } from './actors/throttle/limit-action.js';
export type { LimitMove } from './actors/throttle/limit-move.js';
export type { ThrottleReason } from './actors/throttle/throttle-reason.js';
export { createRuntime } from './create-runtime.js';
export type { CircuitView } from './shared/breaker/circuit-view.js';
export { classifyByError } from './shared/classify-by-error.js';
export {
  ActorStoppedError,
  AskTimeoutError,
  AttemptTimeoutError,
  BusyError,
  CircuitOpenError,
  ConfigConflictError,
  ConfigError,
  DeadlineExceededError,
  HandleVersionError,
  IllegalStateError,
  isSpillwayError,
  MailboxOverflowError,
  NoRuntimeError,
  RateLimitExceededError,
  RuntimeClosedError,
  SpillwayError,
  type Stage,
  TooManyThreadsError,
  UnknownRpcError,
  WorkerLostError,
} from './shared/errors.js';
export type {
  AttemptExplanation,
  Explained,
  Explanation,
  RefusalExplanation,
  StageExplanation,
  StageName,
} from './shared/explanation.js';
export type { RetryStop } from './shared/retry-policy.js';
export type { TableKey } from './shared/table-key.js';
export type {
  HintedVerdict,
  PressedVerdict,
  RetriableKind,
  Verdict,
  VerdictKind,
} from './shared/verdict.js';
export type { AddressBreaker, BreakerPermit } from './workers/address-breaker.js';
export { type Admin, connectAdmin } from './workers/admin.js';
export type {
  AdminListenOptions,
  AdminServer,
  AdminStore,
  RuntimeAdmin,
} from './workers/admin-servers.js';
export { type AttachOptions, attach } from './workers/attach.js';
export type { AttemptContext } from './workers/attempt-scope.js';
export type { BucketPressure, PressureWaitOptions } from './workers/bucket-pressure.js';
export type { CallOptions, CallRetry } from './workers/call-options.js';
export type { ConfigPatch, RuntimeOptions, UpdateOptions } from './workers/config/options.js';
export type { ResolvedConfig } from './workers/config/resolved-config.js';
export type { Gate } from './workers/gate.js';
export type { RuntimeHandle } from './workers/handle.js';
export type { AcquireOptions, Waited } from './workers/host-limiter.js';
export type { Classifier, Outcome } from './workers/outcome.js';
export type {
  FallbackCallback,
  FallbackContext,
  PeerAttempt,
  PeerContext,
  PeerRead,
  PeerReadCallback,
  PeerReadOptions,
} from './workers/peer-read-options.js';
export type { RpcLimiter } from './workers/rpc-limiter.js';
export type { CloseOptions, Runtime } from './workers/runtime.js';
export type { RuntimeEventName, RuntimeEvents, ThrottleChange } from './workers/runtime-events.js';
export type { RuntimeHealth, RuntimeStatus } from './workers/runtime-health.js';
export type { RuntimeSnapshot } from './workers/snapshot.js';
export type {
  RecordedEvent,
  RuntimeState,
  StoreState,
  ThrottledPair,
  ThrottleRecord,
} from './workers/state/runtime-state.js';
export type { StateOptions } from './workers/state/state-reader.js';
