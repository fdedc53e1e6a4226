/**
 * `spillway/testing`: what actors and users of the gate are unit-tested with. Nothing here sleeps, starts a thread or
 * needs a runtime. The actor core comes with it, so that one's own actors can be written and run.
 */
export type { ActorFailure } from '../actors/core/actor-failure.js';
export type { ActorRef, AnyActorRef } from '../actors/core/actor-ref.js';
export {
  type ActorSystem,
  type ActorSystemOptions,
  createActorSystem,
  type StopOptions,
  type StopReport,
} from '../actors/core/actor-system.js';
export type {
  ActorContext,
  AskOutcome,
  Behavior,
  ContextAskOptions,
  SpawnOptions,
  TellOutcome,
  TimerId,
} from '../actors/core/behavior.js';
export type { DeadLetter, DeadLetterCounts, DeadLetterReason } from '../actors/core/dead-letter.js';
export type { EventStream } from '../actors/core/event-stream.js';
export type { MailboxOptions, OverflowPolicy } from '../actors/core/mailbox.js';
export type { EndReason, Signal } from '../actors/core/signal.js';
export type { FailureDirective, SupervisionOptions } from '../actors/core/supervision.js';
export type { SystemStats } from '../actors/core/system-stats.js';
export type { TimerDriver } from '../actors/core/timer-driver.js';
export type {
  EngineBatch,
  EnginePort,
  EngineSample,
  EngineWriteOutcome,
  KeyRange,
} from '../actors/kv/engine-port.js';
export type { KvRecord, KvRow } from '../actors/kv/kv-record.js';
export type { LogBatch, LogPort } from '../actors/kv/log-port.js';
export { type BehaviorKit, type BehaviorKitOptions, createBehaviorKit } from './behavior-kit.js';
export type { Effect } from './effect.js';
export type { FakeBreaker, FakePermit } from './fake-breaker.js';
export { FakeEngine, type FakeEngineOptions } from './fake-engine.js';
export {
  createFakeGate,
  type FakeAcquireOptions,
  type FakeCallOptions,
  type FakeGate,
  type FakeGateOptions,
  type FakeVerdictRecord,
  type GateAnswer,
  type GateRequest,
} from './fake-gate.js';
export { FakeLog, type FakeLogOptions } from './fake-log.js';
export type { FakeClassifier, FakeOutcome, FakeVerdict } from './fake-outcome.js';
export type {
  FakeFallback,
  FakePeerAttempt,
  FakePeerContext,
  FakePeerRead,
  FakePeerReadCallback,
  FakePeerReadOptions,
} from './fake-peer-read.js';
export type { FakeBucketPressure } from './fake-pressure.js';
export type { Probe } from './probe.js';
export { RunawayError } from './runaway-error.js';
export { createTestSystem, type TestSystem } from './test-system.js';
export { createVirtualTime, type VirtualTime, type VirtualTimeOptions } from './virtual-time.js';
