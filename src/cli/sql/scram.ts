/** The server's side of SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding: the password never crosses the wire. */
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';

export const SCRAM = 'SCRAM-SHA-256';

/** As Postgres has it. */
const ITERATIONS = 4096;

/** What a server keeps of a password. */
export interface ScramSecret {
  readonly salt: Buffer;
  readonly iterations: number;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

export function scramSecret(
  password: string,
  salt: Buffer = randomBytes(16),
  iterations: number = ITERATIONS,
): ScramSecret {
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  return {
    salt,
    iterations,
    storedKey: sha256(hmac(salted, 'Client Key')),
    serverKey: hmac(salted, 'Server Key'),
  };
}

/** One log-in. Any method gives undefined when the client is not to be let in. */
export class ScramExchange {
  readonly #secret: ScramSecret;
  readonly #ownNonce: string;
  #clientFirst = '';
  #header = '';
  #serverFirst = '';

  constructor(secret: ScramSecret, ownNonce: string = randomBytes(18).toString('base64')) {
    this.#secret = secret;
    this.#ownNonce = ownNonce;
  }

  /** `client-first-message` to `server-first-message`. */
  first(message: string): string | undefined {
    // `n`: it knows no channel binding; `y`: it thinks that we do not. The name is Postgres' to ignore: it is in the startup.
    const match = /^([ny],(?:a=[^,]*)?,)(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]{1,1024}))$/.exec(message);
    if (match === null) return undefined;
    const [, header = '', bare = '', nonce = ''] = match;
    const { salt, iterations } = this.#secret;
    this.#header = header;
    this.#clientFirst = bare;
    this.#serverFirst = `r=${nonce}${this.#ownNonce},s=${salt.toString('base64')},i=${iterations}`;
    return this.#serverFirst;
  }

  /** `client-final-message` to `server-final-message`. */
  final(message: string): string | undefined {
    const match = /^(c=([^,]*),r=([^,]*)),p=([^,]*)$/.exec(message);
    if (match === null) return undefined;
    const [, withoutProof = '', header = '', nonce = '', proof = ''] = match;
    if (Buffer.from(header, 'base64').toString('latin1') !== this.#header) return undefined;
    if (nonce !== /^r=([^,]*)/.exec(this.#serverFirst)?.[1]) return undefined;
    const { storedKey, serverKey } = this.#secret;
    const signed = `${this.#clientFirst},${this.#serverFirst},${withoutProof}`;
    const signature = hmac(storedKey, signed);
    const given = Buffer.from(proof, 'base64');
    if (given.length !== signature.length) return undefined;
    const clientKey = given.map((byte, i) => byte ^ (signature[i] ?? 0));
    if (!timingSafeEqual(sha256(clientKey), storedKey)) return undefined;
    return `v=${hmac(serverKey, signed).toString('base64')}`;
  }
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest();
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
