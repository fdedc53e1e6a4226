/** Messages of the Postgres protocol 3: a byte that says which, a length that counts itself, a body. */
export interface Frame {
  /** One character. */
  readonly type: string;
  /** With type and length. */
  readonly bytes: Uint8Array;
  readonly body: Uint8Array;
}

/** The stream is no longer one of messages. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** Cuts a stream of bytes into whole messages. */
export class MessageFrames {
  readonly #maxBytes: number;
  #rest: Buffer = Buffer.alloc(0);
  #parts: Uint8Array[] = [];
  #wanted = 5;
  #held = 0;

  /** A longer message is an error. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws FrameError */
  push(chunk: Uint8Array): Frame[] {
    // Parts are joined only when they hold the message that began: a long one is not copied once for each of them.
    this.#parts.push(chunk);
    this.#held += chunk.byteLength;
    if (this.#held < this.#wanted) return [];
    this.#rest = Buffer.concat(this.#parts);
    const frames: Frame[] = [];
    let at = 0;
    this.#wanted = 5;
    while (this.#rest.length - at >= 5) {
      const length = this.#rest.readInt32BE(at + 1);
      if (length < 4 || length > this.#maxBytes) {
        throw new FrameError(`a message of ${length} bytes`);
      }
      const end = at + 1 + length;
      if (end > this.#rest.length) {
        this.#wanted = 1 + length;
        break;
      }
      frames.push({
        type: String.fromCharCode(this.#rest[at] ?? 0),
        bytes: this.#rest.subarray(at, end),
        body: this.#rest.subarray(at + 5, end),
      });
      at = end;
    }
    this.#rest = this.#rest.subarray(at);
    this.#parts = [this.#rest];
    this.#held = this.#rest.length;
    return frames;
  }
}

/** A zero-terminated string at `at`. */
export function cString(body: Uint8Array, at: number): { text: string; next: number } {
  const end = body.indexOf(0, at);
  if (end < 0) throw new FrameError('a string without its end');
  return { text: Buffer.from(body.subarray(at, end)).toString('utf8'), next: end + 1 };
}
