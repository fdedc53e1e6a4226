import { createHash, timingSafeEqual } from 'node:crypto';

const TOKEN = /^[\x21-\x7e]{16,256}$/;

export const TOKEN_RULE = 'must be 16 to 256 printable ASCII characters without spaces';

export function isToken(value: unknown): value is string {
  return typeof value === 'string' && TOKEN.test(value);
}

/**
 * Whether an `Authorization` header brings the token. Digests of equal length are compared, so that the time it takes tells
 * neither how long the token is nor how much of it was right.
 */
export function tokenCheck(token: string): (authorization: string | undefined) => boolean {
  const wanted = digest(token);
  return (authorization) => {
    const [, given] = /^bearer +(.+)$/is.exec(authorization ?? '') ?? [];
    return given !== undefined && timingSafeEqual(digest(given), wanted);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
