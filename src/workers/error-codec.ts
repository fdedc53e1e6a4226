import {
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
  TooManyThreadsError,
  UnknownRpcError,
  WorkerLostError,
} from '../shared/errors.js';
import {
  DirectoryInUseError,
  DirectoryVersionError,
  LogCorruptError,
  LogFailedError,
  LogFullError,
  StorageBackpressureError,
} from '../shared/kv-errors.js';
import {
  KvBufferFullError,
  KvDeliveryTimeoutError,
  KvRecordError,
  KvUnknownBucketError,
  KvWriteError,
  KvWriterClosedError,
} from '../shared/kv-writer-errors.js';
import {
  boundedText,
  decodeEntries,
  decodeValue,
  encodeEntries,
  encodeValue,
  newBudget,
  readSafely,
  type WireBudget,
  type WireValue,
} from './wire-value.js';

/**
 * Errors across threads. Structured clone drops class, name, code and fields, and throws for a field that it cannot clone;
 * this keeps them, and never throws. Errors of this package come back as instances of their class, others as the nearest
 * built-in class with the same name, message, stack, cause and fields.
 */
export interface WireError {
  /** Class to build: one of ours, or a built-in one. */
  readonly kind: string;
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly fields: readonly (readonly [string, WireValue])[];
  /** Wrapped, because a cause of undefined differs from none. */
  readonly cause?: { readonly value: WireValue };
  /** Of an AggregateError. */
  readonly errors?: WireValue;
}

/** What was thrown, ready for `postMessage`: an error, or any other value. */
export type WireThrown = { readonly thrown: WireValue };

type AnyClass = abstract new (...args: never[]) => Error;

const OURS: ReadonlyMap<string, AnyClass> = new Map<string, AnyClass>(
  [
    SpillwayError,
    RateLimitExceededError,
    BusyError,
    CircuitOpenError,
    AttemptTimeoutError,
    DeadlineExceededError,
    ConfigError,
    ConfigConflictError,
    RuntimeClosedError,
    NoRuntimeError,
    HandleVersionError,
    UnknownRpcError,
    TooManyThreadsError,
    WorkerLostError,
    IllegalStateError,
    AskTimeoutError,
    MailboxOverflowError,
    ActorStoppedError,
    StorageBackpressureError,
    LogFullError,
    LogFailedError,
    LogCorruptError,
    DirectoryInUseError,
    DirectoryVersionError,
    KvWriteError,
    KvUnknownBucketError,
    KvRecordError,
    KvBufferFullError,
    KvDeliveryTimeoutError,
    KvWriterClosedError,
  ].map((ours) => [ours.name, ours]),
);

const BUILT_IN: ReadonlyMap<string, ErrorConstructor> = new Map<string, ErrorConstructor>(
  [TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError].map((builtIn) => [
    builtIn.name,
    builtIn as ErrorConstructor,
  ]),
);

/** Carried apart from the other fields. */
const OWN_PLACE: ReadonlySet<string> = new Set(['name', 'message', 'stack', 'cause', 'errors']);

/** What was thrown or rejected with, whatever it is, as plain cloneable data of bounded size. Never throws. */
export function encodeError(thrown: unknown): WireThrown {
  return readSafely<WireThrown>(() => ({ thrown: encodeValue(thrown, newBudget(), encodeOne) }), {
    thrown: '[an error that cannot be read]',
  });
}

/** What `encodeError` was given, on the other side. Never throws. */
export function decodeError(wire: WireThrown): unknown {
  return readSafely<unknown>(
    () => decodeValue(wire.thrown, decodeOne),
    new Error('an error of another thread that cannot be read'),
  );
}

function encodeOne(error: Error, budget: WireBudget): WireError {
  const text = (key: 'name' | 'message' | 'stack', otherwise: string): string => {
    const value = readSafely<unknown>(() => error[key], otherwise);
    return boundedText(typeof value === 'string' ? value : otherwise, budget);
  };
  const kind = kindOf(error);
  const name = text('name', 'Error');
  const message = text('message', '');
  const isAggregate = kind === 'AggregateError';
  const keys = readSafely(() => Object.keys(error), []).filter(
    (key) => !OWN_PLACE.has(key) || (key === 'errors' && !isAggregate),
  );
  // Some classes answer `code` from a getter of their prototype.
  if (
    kind !== 'DOMException' &&
    !keys.includes('code') &&
    isCode(readSafely(() => codeOf(error), 0))
  ) {
    keys.unshift('code');
  }
  const fields = encodeEntries(error, keys, budget, encodeOne);
  const stack = text('stack', '');
  const encoded = { kind, name, message, stack: stack === '' ? undefined : stack, fields };
  const hasCause = readSafely(() => Object.hasOwn(error, 'cause'), false);
  return {
    ...encoded,
    ...(hasCause && { cause: { value: encodeProperty(error, 'cause', budget) } }),
    ...(isAggregate && { errors: encodeProperty(error, 'errors', budget) }),
  };
}

function encodeProperty(error: Error, key: string, budget: WireBudget): WireValue {
  return encodeValue(
    readSafely<unknown>(() => Reflect.get(error, key), '[unreadable]'),
    budget,
    encodeOne,
  );
}

function codeOf(error: Error): unknown {
  return 'code' in error ? error.code : undefined;
}

function isCode(code: unknown): boolean {
  return (typeof code === 'string' && code !== '') || (typeof code === 'number' && code !== 0);
}

function kindOf(error: Error): string {
  return readSafely(() => {
    // By brand and name: an error of a second copy of this package becomes one of this copy.
    if (isSpillwayError(error)) return OURS.has(error.name) ? error.name : 'SpillwayError';
    if (error instanceof AggregateError) return 'AggregateError';
    if (error instanceof DOMException) return 'DOMException';
    for (const [name, builtIn] of BUILT_IN) if (error instanceof builtIn) return name;
    return 'Error';
  }, 'Error');
}

function decodeOne(encoded: unknown): Error {
  const wire = encoded as WireError;
  const error = build(wire);
  decodeEntries(error, wire.fields, decodeOne);
  if (error.name !== wire.name) hide(error, 'name', wire.name);
  if (wire.cause !== undefined) hide(error, 'cause', decodeValue(wire.cause.value, decodeOne));
  hide(error, 'stack', wire.stack ?? `${wire.name}: ${wire.message}`);
  return error;
}

function build({ kind, name, message, errors, fields }: WireError): Error {
  const ours = OURS.get(kind);
  if (ours !== undefined) {
    const code = fields.find(([key]) => key === 'code')?.[1];
    // The base constructor sets brand, code and name for `ours`; its own fields are defined by the caller.
    return Reflect.construct(SpillwayError, [code, message], ours) as Error;
  }
  if (kind === 'DOMException') return new DOMException(message, name) as Error;
  if (kind === 'AggregateError') {
    const inner = decodeValue(errors, decodeOne);
    return new AggregateError(Array.isArray(inner) ? inner : [], message);
  }
  return new (BUILT_IN.get(kind) ?? Error)(message);
}

/** As the language defines these: not enumerable. */
function hide(error: Error, key: string, value: unknown): void {
  Object.defineProperty(error, key, {
    value,
    enumerable: false,
    writable: true,
    configurable: true,
  });
}
