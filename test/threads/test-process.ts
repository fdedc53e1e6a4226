import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

type Spillway = typeof import('../../dist/index.js');

/** What a function that runs in a test process is given. */
export interface ProcessSide<Data> {
  readonly spillway: Spillway;
  /** Where that was imported from. */
  readonly entry: string;
  readonly data: Data;
  /** Comes back in `Ended.said`; plain JSON. */
  say(value: unknown): void;
}

export interface Ended {
  readonly code: number | null;
  /** Set when it had to be ended. */
  readonly signal: NodeJS.Signals | null;
  readonly said: readonly unknown[];
  readonly stderr: string;
  /** From the last word to the end. */
  readonly lingeredMs: number;
}

const PATIENCE_MS = 20_000;

/**
 * Runs `body` in a process of its own in which an unhandled rejection is fatal, and waits until that has ended by itself.
 * The body travels as text, see `startThread`.
 */
export async function runProcess<Data = undefined>(
  body: (side: ProcessSide<Data>) => Promise<void> | void,
  data?: Data,
): Promise<Ended> {
  const entry = new URL('../../dist/index.js', import.meta.url).href;
  const main = fileURLToPath(new URL('./process-entry.mjs', import.meta.url));
  const child = spawn(
    process.execPath,
    [
      '--unhandled-rejections=strict',
      main,
      JSON.stringify({ body: String(body), data: data ?? null, entry }),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE_MS, killSignal: 'SIGKILL' },
  );
  const output = { out: '', err: '', lastWordMs: performance.now() };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.out += text;
    output.lastWordMs = performance.now();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.err += text;
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.on('close', (...how) => resolve(how)),
  );
  const said = output.out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
  const lingeredMs = performance.now() - output.lastWordMs;
  return { code, signal, said, stderr: output.err, lingeredMs };
}
