import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { RateLimitExceededError, RuntimeClosedError } from '../shared/errors.js';

/** Trailing metadata of a call that was refused here and never sent: which stage refused it. */
export const REFUSED_KEY = 'spillway-refused';
/** With it, where known: when to try again, ms. */
export const RETRY_AFTER_KEY = 'spillway-retry-after-ms';

/** The end of a call that was never sent. grpc-js copies `cause` to the `ServiceError` that callers see. */
export type RefusalStatus = StatusObject & { readonly cause?: unknown };

export interface RefusalContext {
  /** The wait was bounded by the call's deadline, not by a maximum wait. */
  readonly byDeadline: boolean;
}

/** The status of a call that the gate turned away, or that could not be started. */
export function refusalStatus(error: unknown, { byDeadline }: RefusalContext): RefusalStatus {
  const metadata = new Metadata();
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RateLimitExceededError) {
    metadata.set(REFUSED_KEY, error.stage);
    metadata.set(RETRY_AFTER_KEY, String(Math.ceil(error.retryAfterMs)));
    const code = byDeadline ? status.DEADLINE_EXCEEDED : status.RESOURCE_EXHAUSTED;
    return { code, details: `refused before it was sent: ${message}`, metadata, cause: error };
  }
  const isClosed = error instanceof RuntimeClosedError;
  metadata.set(REFUSED_KEY, isClosed ? 'closed' : 'error');
  const code = isClosed ? status.FAILED_PRECONDITION : status.INTERNAL;
  return { code, details: `not sent: ${message}`, metadata, cause: error };
}

/** The status of a call that its caller, or its deadline, ended before it was sent. */
export function endedStatus(code: status, details: string): RefusalStatus {
  const metadata = new Metadata();
  metadata.set(REFUSED_KEY, 'ended');
  return { code, details, metadata };
}
