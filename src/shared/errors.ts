/**
 * Every error that Spillway raises on purpose. Misuse of a number or a type is the built-in `RangeError` or `TypeError`;
 * everything else is one of these, with a stable `code`. A brand from the global symbol registry makes `isSpillwayError`
 * work across duplicate copies of the package, where `instanceof` cannot.
 */

import type { Explanation } from './explanation.js';

const BRAND: unique symbol = Symbol.for('spillway.error') as never;

/** Base of all errors of this package. `code` is stable across versions, the message is not. */
export class SpillwayError extends Error {
  /** Stable, machine-readable name of the kind, `ERR_SPILLWAY_...`. */
  readonly code: string;
  /** Of a call with `explain: true`. */
  declare readonly explanation?: Explanation;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
    Object.defineProperty(this, 'name', {
      value: new.target.name,
      configurable: true,
      writable: true,
    });
  }
}

/** Whether `error` was made by any copy of this package. */
export function isSpillwayError(error: unknown): error is SpillwayError {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as Record<symbol, unknown>)[BRAND] === true
  );
}

/** Which part of admission said no. */
export type Stage = 'pressure' | 'host' | 'table' | 'queue';

export interface RateLimitDetails {
  /** How long the caller would have had to wait, in ms; when to try again. */
  readonly retryAfterMs: number;
  readonly stage: Stage;
  readonly rpc?: string;
  readonly table?: string;
  readonly bucket?: string;
}

/** The wait would be longer than `maxWaitMs`, or the queue is full. Nothing was taken. Retriable after `retryAfterMs`. */
export class RateLimitExceededError extends SpillwayError {
  readonly retryAfterMs: number;
  readonly stage: Stage;
  readonly rpc: string | undefined;
  readonly table: string | undefined;
  /** Whose pressure window is open, or whose queue is full. */
  readonly bucket: string | undefined;

  constructor(message: string, details: RateLimitDetails, options?: ErrorOptions) {
    super('ERR_SPILLWAY_RATE_LIMIT_EXCEEDED', message, options);
    this.retryAfterMs = details.retryAfterMs;
    this.stage = details.stage;
    this.rpc = details.rpc;
    this.table = details.table;
    this.bucket = details.bucket;
  }
}

/** The downstream said that it is overloaded. Throw it from an attempt; the default classifier calls it `busy`. */
export class BusyError extends SpillwayError {
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    details: { readonly retryAfterMs?: number } = {},
    options?: ErrorOptions,
  ) {
    super('ERR_SPILLWAY_BUSY', message, options);
    this.retryAfterMs = details.retryAfterMs;
  }
}

export interface AttemptTimeoutDetails {
  /** Which attempt of the call, from 1. */
  readonly attempt: number;
  /** The bound that it reached, ms. */
  readonly timeoutMs: number;
  /** `connect`: a peer read had no connection in time. */
  readonly phase: 'attempt' | 'connect';
}

/**
 * An attempt took longer than it may: it was left behind, its signal aborted with this as the reason. What it did at the
 * downstream is not known. Retriable as far as the call is.
 */
export class AttemptTimeoutError extends SpillwayError {
  readonly attempt: number;
  readonly timeoutMs: number;
  readonly phase: 'attempt' | 'connect';

  constructor(message: string, details: AttemptTimeoutDetails, options?: ErrorOptions) {
    super('ERR_SPILLWAY_ATTEMPT_TIMEOUT', message, options);
    this.attempt = details.attempt;
    this.timeoutMs = details.timeoutMs;
    this.phase = details.phase;
  }
}

export interface DeadlineExceededDetails {
  /** Of the call, ms from its begin. */
  readonly deadlineMs: number;
  /** Attempts that had begun. */
  readonly attempts: number;
}

/**
 * The call's own deadline has passed, or would before it could go: while it waited, backed off, or in an attempt, which
 * was left behind. Its `cause`, if any, is the refusal of a stage or the error of the last attempt.
 */
export class DeadlineExceededError extends SpillwayError {
  readonly deadlineMs: number;
  readonly attempts: number;

  constructor(message: string, details: DeadlineExceededDetails, options?: ErrorOptions) {
    super('ERR_SPILLWAY_DEADLINE_EXCEEDED', message, options);
    this.deadlineMs = details.deadlineMs;
    this.attempts = details.attempts;
  }
}

/**
 * The circuit of the peer is open, or its one probe is out: the call was not let through, so it counts for nothing.
 * Retriable after `retryAfterMs`.
 */
export class CircuitOpenError extends SpillwayError {
  /** Canonical. */
  readonly address: string;
  /** Until a probe may go, or the one that is out is decided at the latest, ms. */
  readonly retryAfterMs: number;

  constructor(
    message: string,
    details: { readonly address: string; readonly retryAfterMs: number },
    options?: ErrorOptions,
  ) {
    super('ERR_SPILLWAY_CIRCUIT_OPEN', message, options);
    this.address = details.address;
    this.retryAfterMs = details.retryAfterMs;
  }
}

export interface ConfigErrorDetails {
  /** Dotted path of the option in the spelling that was given, `''` for the whole. */
  readonly field: string;
  /** What the value must be. */
  readonly rule: string;
  /** What came. */
  readonly value: unknown;
}

/** An option is missing, unknown, out of range or of the wrong type. The old configuration stays in force. */
export class ConfigError extends SpillwayError {
  readonly field: string;
  readonly rule: string;
  readonly value: unknown;

  constructor(message: string, details: ConfigErrorDetails, options?: ErrorOptions) {
    super('ERR_SPILLWAY_CONFIG', message, options);
    this.field = details.field;
    this.rule = details.rule;
    this.value = details.value;
  }
}

/** The configuration has changed since the version that the change was meant for. Nothing was changed; read it again. */
export class ConfigConflictError extends SpillwayError {
  /** The version in force. */
  readonly version: number;

  constructor(message: string, details: { readonly version: number }, options?: ErrorOptions) {
    super('ERR_SPILLWAY_CONFIG_CONFLICT', message, options);
    this.version = details.version;
  }
}

/** The runtime is closing or closed. Not retriable. */
export class RuntimeClosedError extends SpillwayError {
  constructor(message = 'the runtime is closed', options?: ErrorOptions) {
    super('ERR_SPILLWAY_RUNTIME_CLOSED', message, options);
  }
}

/** `attach()` found no runtime: no handle was given and none is in the environment data. */
export class NoRuntimeError extends SpillwayError {
  constructor(
    message = 'no runtime: call createRuntime() before this thread is started, or give attach() the value of runtime.handle()',
    options?: ErrorOptions,
  ) {
    super('ERR_SPILLWAY_NO_RUNTIME', message, options);
  }
}

/** A handle, or an arena, of another version of this package, or no handle at all. */
export class HandleVersionError extends SpillwayError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPILLWAY_HANDLE_VERSION', message, options);
  }
}

/** The RPC type is in no configuration. */
export class UnknownRpcError extends SpillwayError {
  readonly rpc: string;

  constructor(message: string, details: { readonly rpc: string }, options?: ErrorOptions) {
    super('ERR_SPILLWAY_UNKNOWN_RPC', message, options);
    this.rpc = details.rpc;
  }
}

/** Every thread place of the arena is taken: raise `capacity.threads`. */
export class TooManyThreadsError extends SpillwayError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPILLWAY_TOO_MANY_THREADS', message, options);
  }
}

/** The thread that should have answered is gone. Retriable. */
export class WorkerLostError extends SpillwayError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPILLWAY_WORKER_LOST', message, options);
  }
}

/** The operation is not allowed in this state, such as settling a thing twice. */
export class IllegalStateError extends SpillwayError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPILLWAY_ILLEGAL_STATE', message, options);
  }
}

/** An actor did not answer in time. */
export class AskTimeoutError extends SpillwayError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPILLWAY_ASK_TIMEOUT', message, options);
  }
}

/** A mailbox is full and its policy is to reject. */
export class MailboxOverflowError extends SpillwayError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPILLWAY_MAILBOX_OVERFLOW', message, options);
  }
}

/** The actor that was asked has stopped. */
export class ActorStoppedError extends SpillwayError {
  constructor(message: string, options?: ErrorOptions) {
    super('ERR_SPILLWAY_ACTOR_STOPPED', message, options);
  }
}
