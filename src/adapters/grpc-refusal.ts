import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import {
  AttemptTimeoutError,
  CircuitOpenError,
  DeadlineExceededError,
  RateLimitExceededError,
  RuntimeClosedError,
} from '../shared/errors.js';
import { thrownText } from '../shared/thrown-text.js';

/** Trailing metadata of a call that was refused here: which stage refused to send it, or to send it once more. */
export const REFUSED_KEY = 'spillway-refused';
/** With it, where known: when to try again, ms. */
export const RETRY_AFTER_KEY = 'spillway-retry-after-ms';

/** The end of a call that was not sent. grpc-js copies `cause` to the `ServiceError` that callers see. */
export type RefusalStatus = StatusObject & { readonly cause?: unknown };

export interface RefusalContext {
  /** The wait was bounded by the call's deadline, not by a maximum wait. */
  readonly byDeadline: boolean;
  /** Attempts that had been sent before. */
  readonly sent: number;
}

/** The status of a call that the gate turned away, or that could not be started. */
export function refusalStatus(error: unknown, { byDeadline, sent }: RefusalContext): RefusalStatus {
  const metadata = new Metadata();
  const message = thrownText(error);
  const when = sent === 0 ? 'before it was sent' : `before attempt ${sent + 1} was sent`;
  const refused = (stage: string, code: status, details: string): RefusalStatus => {
    metadata.set(REFUSED_KEY, stage);
    return { code, details, metadata, cause: error };
  };
  if (error instanceof RateLimitExceededError) {
    metadata.set(RETRY_AFTER_KEY, String(Math.ceil(error.retryAfterMs)));
    const code = byDeadline ? status.DEADLINE_EXCEEDED : status.RESOURCE_EXHAUSTED;
    return refused(error.stage, code, `refused ${when}: ${message}`);
  }
  if (error instanceof CircuitOpenError) {
    metadata.set(RETRY_AFTER_KEY, String(Math.ceil(error.retryAfterMs)));
    return refused('circuit', status.UNAVAILABLE, `refused ${when}: ${message}`);
  }
  if (error instanceof AttemptTimeoutError || error instanceof DeadlineExceededError) {
    const wasSent = error instanceof AttemptTimeoutError || error.attempts > 0;
    if (wasSent)
      return { code: status.DEADLINE_EXCEEDED, details: message, metadata, cause: error };
    return refused('deadline', status.DEADLINE_EXCEEDED, `refused ${when}: ${message}`);
  }
  if (error instanceof RuntimeClosedError)
    return refused('closed', status.FAILED_PRECONDITION, `not sent: ${message}`);
  return refused('error', status.INTERNAL, sent === 0 ? `not sent: ${message}` : message);
}

/** The status of a call that its caller, or its deadline, ended before it was sent. */
export function endedStatus(code: status, details: string): RefusalStatus {
  const metadata = new Metadata();
  metadata.set(REFUSED_KEY, 'ended');
  return { code, details, metadata };
}
