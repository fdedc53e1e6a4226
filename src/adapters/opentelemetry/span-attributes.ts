/** What a span of a call says, from its options and its explanation. Pure. */
import type { Attributes } from '@opentelemetry/api';
import type { AttemptExplanation, Explanation } from '../../shared/explanation.js';
import { describeValue } from '../../shared/quota.js';
import type { CallOptions } from '../../workers/call-options.js';

/** A key may be as long as its caller likes, and goes with every span. */
const MAX_TEXT = 256;

/** What is known when the call begins. */
export function callAttributes<T>({ rpc, table, address, bucket }: CallOptions<T>): Attributes {
  return {
    'spillway.rpc': text(rpc),
    ...(table !== undefined && { 'spillway.table': text(table) }),
    ...(address !== undefined && { 'spillway.address': text(address) }),
    ...(bucket !== undefined && { 'spillway.bucket': text(bucket) }),
  };
}

/** What is known when it has ended. */
export function outcomeAttributes(explanation: Explanation): Attributes {
  const { attempts, configVersion, waitedMs, backoffMs, refusal } = explanation;
  const begun = attempts.filter(({ verdict }) => verdict !== undefined);
  const last = begun.at(-1);
  const retryAfterMs = refusal?.retryAfterMs ?? last?.retryAfterMs;
  const stopped = attempts.at(-1)?.stopped;
  return {
    'spillway.config_version': configVersion,
    'spillway.attempts': begun.length,
    'spillway.waited_ms': waitedMs,
    ...stageAttributes(attempts),
    ...(backoffMs > 0 && { 'spillway.backoff_ms': backoffMs }),
    ...(last?.verdict !== undefined && { 'spillway.verdict': last.verdict }),
    ...(stopped !== undefined && { 'spillway.stopped': stopped }),
    ...(refusal !== undefined && { 'spillway.refused_by': refusal.by }),
    ...(retryAfterMs !== undefined && { 'spillway.retry_after_ms': retryAfterMs }),
  };
}

/** Of one attempt, for an event of the call's span. */
export function attemptAttributes(attempt: AttemptExplanation): Attributes {
  const { verdict, tookMs, retryAfterMs, backoffMs, stopped } = attempt;
  return {
    'spillway.attempt': attempt.attempt,
    'spillway.config_version': attempt.configVersion,
    ...stageAttributes([attempt]),
    ...(verdict !== undefined && { 'spillway.verdict': verdict }),
    ...(tookMs !== undefined && { 'spillway.took_ms': tookMs }),
    ...(retryAfterMs !== undefined && { 'spillway.retry_after_ms': retryAfterMs }),
    ...(backoffMs !== undefined && { 'spillway.backoff_ms': backoffMs }),
    ...(stopped !== undefined && { 'spillway.stopped': stopped }),
  };
}

/** How long each stage that had a say held it, all attempts together. */
function stageAttributes(attempts: readonly AttemptExplanation[]): Attributes {
  const waited: Record<string, number> = {};
  for (const { stages } of attempts) {
    for (const { stage, waitedMs } of stages) {
      const name = `spillway.waited_ms.${stage}`;
      waited[name] = (waited[name] ?? 0) + waitedMs;
    }
  }
  return waited;
}

/** What the gate refuses may be anything. */
function text(value: unknown): string {
  const isPlain =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
  return (isPlain ? String(value) : describeValue(value)).slice(0, MAX_TEXT);
}
