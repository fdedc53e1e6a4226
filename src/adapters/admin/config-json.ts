import type { ConfigPatch } from '../../workers/config/options.js';
import type { ResolvedConfig } from '../../workers/config/resolved-config.js';
import { type AdminRefusal, refusal } from './admin-refusal.js';

/** Thrown by a handler to answer with it. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
  readonly refusal: AdminRefusal;

  constructor(told: AdminRefusal) {
    super(told.message);
    this.refusal = told;
  }
}

/** A `backendId` that no JSON number holds is shown as text. */
export function configJson(version: number, config: ResolvedConfig): string {
  return JSON.stringify({ version, config }, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}

/** @throws RefusedRequest; whether the options are right is for the runtime to say. */
export function readPatch(body: unknown): ConfigPatch {
  if (!Buffer.isBuffer(body) || body.length === 0) {
    throw new RefusedRequest(refusal(400, 'the body must be a JSON object, nothing came'));
  }
  let patch: unknown;
  try {
    patch = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'that is no JSON' : 'that is no UTF-8';
    throw new RefusedRequest(refusal(400, `the body must be a JSON object, ${reason}`));
  }
  return withBackendId(patch) as ConfigPatch;
}

function withBackendId(patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const { backendId } = patch as { readonly backendId?: unknown };
  if (typeof backendId !== 'string' || !/^\d{1,19}$/.test(backendId)) return patch;
  const exact = BigInt(backendId);
  const isSafe = exact <= BigInt(Number.MAX_SAFE_INTEGER);
  return { ...patch, backendId: isSafe ? Number(exact) : exact };
}

/**
 * The version that an `If-Match` header wants; undefined: any. Of several the one in force, if it is among them.
 * @throws RefusedRequest
 */
export function wantedVersion(header: string | undefined, current: number): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const versions = header.split(',').map((tag) => {
    const [, digits] = /^\s*"(\d{1,15})"\s*$/.exec(tag) ?? [];
    if (digits !== undefined) return Number(digits);
    throw new RefusedRequest(refusal(400, 'If-Match must be the version in quotes, such as "3"'));
  });
  return versions.includes(current) ? current : versions[0];
}
