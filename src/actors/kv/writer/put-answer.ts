import { KV_CODES } from '../../../shared/kv-errors.js';
import type { Exchange } from './writer-ports.js';

/** What a batch's attempt came to. */
export type PutVerdict =
  | { readonly kind: 'taken'; readonly logEndOffset: number }
  /** Nothing was taken; the bucket is left alone for the longest window. */
  | { readonly kind: 'pressed'; readonly reason: string }
  /** Again after a pause. `maybeTaken`: it may be in the log already; `isAway`: another server may lead the bucket by now. */
  | {
      readonly kind: 'again';
      readonly maybeTaken: boolean;
      readonly isAway: boolean;
      readonly reason: string;
    }
  /** Metadata may be old. */
  | { readonly kind: 'unknown-bucket'; readonly reason: string }
  /** Something in the batch is not to be taken, or all of it together. */
  | { readonly kind: 'unfit'; readonly code: 3 | 4; readonly reason: string }
  | {
      readonly kind: 'failed';
      readonly code: number | undefined;
      readonly maybeTaken: boolean;
      readonly reason: string;
    };

export interface PutAnswer {
  readonly verdict: PutVerdict;
  /** What the server said of its pressure, unchecked; undefined: nothing. */
  readonly pressure: number | undefined;
  readonly cause: Error | undefined;
}

/** Reads the end of an attempt. Never throws: what cannot be understood is an answer that did not come. */
export function readPutAnswer(end: Exchange, bucket: number, isFlush: boolean): PutAnswer {
  if (end.kind === 'lost') {
    const { error } = end;
    return answer({ kind: 'again', maybeTaken: true, isAway: true, reason: error.message }, error);
  }
  if (end.kind === 'refused') {
    const { message } = end.error;
    return answer(
      { kind: 'failed', code: undefined, maybeTaken: true, reason: message },
      end.error,
    );
  }
  const result = resultOf(end.response);
  if (result === undefined) return garbled('an answer that has not one result');
  if (result['bucket'] !== bucket)
    return garbled(`an answer of bucket ${String(result['bucket'])}`);
  const code = result['errorCode'];
  if (typeof code !== 'number') return garbled('an answer without a code');
  const message = result['errorMessage'];
  const reason = typeof message === 'string' && message !== '' ? message : `code ${code}`;
  const said = result['pressure'];
  const pressure = typeof said === 'number' ? said : undefined;
  return { verdict: verdictOf(code, reason, result, isFlush), pressure, cause: undefined };
}

function verdictOf(
  code: number,
  reason: string,
  result: Readonly<Record<string, unknown>>,
  isFlush: boolean,
): PutVerdict {
  switch (code) {
    case KV_CODES.NONE: {
      const logEndOffset = result['logEndOffset'];
      if (Number.isSafeInteger(logEndOffset) && (logEndOffset as number) > 0) {
        return { kind: 'taken', logEndOffset: logEndOffset as number };
      }
      return again(true, 'an answer without its offset');
    }
    case KV_CODES.UNKNOWN_TABLE:
    case KV_CODES.UNKNOWN_BUCKET:
      return { kind: 'unknown-bucket', reason };
    case KV_CODES.INVALID_RECORD:
    case KV_CODES.BATCH_TOO_LARGE:
      return { kind: 'unfit', code: code as 3 | 4, reason };
    case KV_CODES.LOG_FULL:
    case KV_CODES.SUPERSEDED:
      return again(false, reason);
    case KV_CODES.CLOSING:
      return { kind: 'again', maybeTaken: isFlush, isAway: true, reason };
    case KV_CODES.TIMEOUT:
      return again(true, reason);
    case KV_CODES.STORAGE_BACKPRESSURE:
      return { kind: 'pressed', reason };
    default:
      return { kind: 'failed', code, maybeTaken: true, reason };
  }
}

function resultOf(response: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof response !== 'object' || response === null) return undefined;
  const { buckets } = response as { readonly buckets?: unknown };
  if (!Array.isArray(buckets) || buckets.length !== 1) return undefined;
  const [result] = buckets as readonly unknown[];
  if (typeof result !== 'object' || result === null) return undefined;
  return result as Readonly<Record<string, unknown>>;
}

function garbled(reason: string): PutAnswer {
  return answer(again(true, reason), new Error(reason));
}

function again(maybeTaken: boolean, reason: string): PutVerdict {
  return { kind: 'again', maybeTaken, isAway: false, reason };
}

function answer(verdict: PutVerdict, cause: Error): PutAnswer {
  return { verdict, pressure: undefined, cause };
}
