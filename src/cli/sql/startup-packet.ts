/** The first packet of a connection: it has no type, and says what it is by a code. */
import { cString, FrameError } from './message-frames.js';

export type StartupPacket =
  | { readonly kind: 'encrypt' }
  | { readonly kind: 'cancel'; readonly pid: number; readonly secret: number }
  | {
      readonly kind: 'startup';
      /** Of protocol 3. */
      readonly minor: number;
      readonly parameters: ReadonlyMap<string, string>;
    };

const SSL_REQUEST = 80_877_103;
const GSSENC_REQUEST = 80_877_104;
const CANCEL_REQUEST = 80_877_102;

/** As Postgres has it. */
const MAX_STARTUP_BYTES = 10_000;

/**
 * undefined: not all of it is here.
 * @throws FrameError for what is no such packet, such as an HTTP request
 */
export function readStartupPacket(
  bytes: Buffer,
): { packet: StartupPacket; length: number } | undefined {
  if (bytes.length < 4) return undefined;
  const length = bytes.readInt32BE(0);
  if (length < 8 || length > MAX_STARTUP_BYTES) throw new FrameError('not a startup packet');
  if (bytes.length < length) return undefined;
  const code = bytes.readInt32BE(4);
  if (code === SSL_REQUEST || code === GSSENC_REQUEST)
    return { packet: { kind: 'encrypt' }, length };
  if (code === CANCEL_REQUEST) {
    if (length !== 16) throw new FrameError('a cancel request of another length');
    const packet = {
      kind: 'cancel',
      pid: bytes.readInt32BE(8),
      secret: bytes.readInt32BE(12),
    } as const;
    return { packet, length };
  }
  if (code >>> 16 !== 3) throw new FrameError('not protocol 3');
  const parameters = readParameters(bytes.subarray(8, length));
  return { packet: { kind: 'startup', minor: code & 0xffff, parameters }, length };
}

function readParameters(body: Buffer): Map<string, string> {
  const parameters = new Map<string, string>();
  for (let at = 0; body[at] !== 0; ) {
    if (at >= body.length) throw new FrameError('startup parameters without their end');
    const name = cString(body, at);
    const value = cString(body, name.next);
    parameters.set(name.text, value.text);
    at = value.next;
  }
  return parameters;
}

/** Settings for the session: what is no setting aside, and those of `options` (`-c name=value --name=value`) first. */
export function settingsOf(parameters: ReadonlyMap<string, string>): [string, string][] {
  const settings: [string, string][] = [];
  const words = (parameters.get('options') ?? '').match(/(?:\\.|\S)+/gs) ?? [];
  for (let i = 0; i < words.length; i += 1) {
    let word = words[i] ?? '';
    if (word === '-c') word = words[++i] ?? '';
    else word = word.replace(/^-c|^--/, '');
    const match = /^([^=]+)=(.*)$/s.exec(word.replace(/\\(.)/gs, '$1'));
    if (match !== null) settings.push([(match[1] ?? '').replaceAll('-', '_'), match[2] ?? '']);
  }
  for (const [name, value] of parameters) {
    if (['user', 'database', 'options', 'replication'].includes(name) || name.startsWith('_pq_.')) {
      continue;
    }
    settings.push([name, value]);
  }
  return settings;
}
