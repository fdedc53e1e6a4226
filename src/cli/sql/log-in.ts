import type { Socket } from 'node:net';
import { type Frame, MessageFrames } from './message-frames.js';
import { SCRAM, ScramExchange, type ScramSecret } from './scram.js';
import { int32, message } from './wire-messages.js';

/** A password message of SCRAM is short. */
const MAX_BYTES = 4096;

/** Whether the client knows the password. The socket is paused before and after. @throws FrameError */
export async function logIn(socket: Socket, secret: ScramSecret): Promise<boolean> {
  const exchange = new ScramExchange(secret);
  const next = passwordMessages(socket);
  socket.write(message('R', int32(10), SCRAM, Buffer.from([0])));
  const initial = readInitial(await next());
  const first = initial === undefined ? undefined : exchange.first(initial);
  if (first === undefined) return false;
  socket.write(message('R', int32(11), Buffer.from(first, 'utf8')));
  const answer = await next();
  const final = exchange.final(Buffer.from(answer?.body ?? []).toString('utf8'));
  if (final === undefined) return false;
  socket.write(message('R', int32(12), Buffer.from(final, 'utf8')));
  return true;
}

/** Name of the mechanism, length, and the client's first message. */
function readInitial(frame: Frame | undefined): string | undefined {
  if (frame === undefined) return undefined;
  const body = Buffer.from(frame.body);
  const end = body.indexOf(0);
  if (end < 0 || body.toString('latin1', 0, end) !== SCRAM || body.length < end + 5)
    return undefined;
  return body.toString('utf8', end + 5);
}

/** Each call waits for one message `p`; undefined: another came, or the client left. */
function passwordMessages(socket: Socket): () => Promise<Frame | undefined> {
  const frames = new MessageFrames(MAX_BYTES);
  return () =>
    new Promise((resolve, reject) => {
      const settle = (frame?: Frame): void => {
        socket.off('data', onData);
        socket.off('close', onClose);
        socket.pause();
        resolve(frame?.type === 'p' ? frame : undefined);
      };
      const onClose = (): void => settle();
      const onData = (chunk: Buffer): void => {
        try {
          // A client sends nothing ahead while it waits for our answer.
          const [frame] = frames.push(chunk);
          if (frame !== undefined) settle(frame);
        } catch (error) {
          socket.off('data', onData);
          socket.off('close', onClose);
          reject(error);
        }
      };
      socket.on('data', onData);
      socket.once('close', onClose);
      socket.resume();
    });
}
