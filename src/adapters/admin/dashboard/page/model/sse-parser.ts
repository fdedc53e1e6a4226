/** A message of a `text/event-stream`. */
export interface SseMessage {
  readonly event: string;
  readonly data: string;
  /** The last id that the stream has named, '' for none. */
  readonly id: string;
}

/** Longest line or message, characters: what is longer ends the stream instead of filling the memory. */
const MAX_PENDING = 32 * 1024 * 1024;

/**
 * Parses an event stream from pieces that may end anywhere. After the HTML standard, 9.2.6 ("Interpreting an event
 * stream"); `retry` is left out, the page has delays of its own.
 */
export class SseParser {
  #rest = '';
  #started = false;
  #event = '';
  #data: string[] = [];
  #size = 0;
  #id = '';

  /** @throws RangeError: a message beyond 32 MiB. */
  push(piece: string): SseMessage[] {
    let text = this.#rest + piece;
    if (!this.#started && text !== '') {
      this.#started = true;
      if (text.startsWith('\ufeff')) text = text.slice(1);
    }
    const messages: SseMessage[] = [];
    let from = 0;
    for (;;) {
      const end = lineEnd(text, from);
      if (end === undefined) break;
      this.#line(text.slice(from, end.at), messages);
      from = end.next;
    }
    this.#rest = text.slice(from);
    if (this.#rest.length + this.#size > MAX_PENDING) throw new RangeError('a message is too long');
    return messages;
  }

  #line(line: string, messages: SseMessage[]): void {
    if (line === '') {
      if (this.#data.length > 0) {
        const data = this.#data.join('\n');
        messages.push({ event: this.#event || 'message', data, id: this.#id });
      }
      this.#event = '';
      this.#data = [];
      this.#size = 0;
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#event = value;
    else if (field === 'data') {
      this.#data.push(value);
      this.#size += value.length;
    } else if (field === 'id' && !value.includes('\0')) this.#id = value;
  }
}

/** The end of the line that begins at `from`; a CR at the very end may still be half of a CRLF. */
function lineEnd(text: string, from: number): { at: number; next: number } | undefined {
  const lf = text.indexOf('\n', from);
  const cr = text.indexOf('\r', from);
  if (cr < 0 || (lf >= 0 && lf < cr)) return lf < 0 ? undefined : { at: lf, next: lf + 1 };
  if (cr + 1 === text.length) return undefined;
  return { at: cr, next: text[cr + 1] === '\n' ? cr + 2 : cr + 1 };
}
