import { emitKeypressEvents } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { STATE_LIMITS } from '../backend-state.js';
import { type BackendReading, BackendWatch } from '../backend-watch.js';
import type { TopArguments } from '../command-line.js';
import { renderTop } from './render-top.js';
import { sizeOf, TerminalScreen } from './terminal-screen.js';
import { type TopModel, topModel } from './top-model.js';
import { type Key, pressKey, startView } from './top-view.js';

/** When nobody knows how wide the output is. */
const PIPE_COLUMNS = 120;

/** Resolves to the exit code: 1 when no backend has answered a single time. */
export async function runTop(args: TopArguments): Promise<number> {
  const limits = { ...STATE_LIMITS, timeoutMs: args.backendTimeoutMs };
  const watch = new BackendWatch(args.backends, limits);
  const live = !args.once && process.stdout.isTTY && process.stdin.isTTY;
  return live ? runLive(args, watch) : runOnce(args, watch);
}

/** Two looks, an interval apart: rates need both. */
async function runOnce(args: TopArguments, watch: BackendWatch): Promise<number> {
  const before = await watch.read();
  await sleep(args.intervalMs);
  const readings = await watch.read();
  const columns = process.stdout.columns || Number(process.env['COLUMNS']) || PIPE_COLUMNS;
  const model = topModel(readings, before, Date.now());
  const size = { columns, rows: Number.POSITIVE_INFINITY };
  const lines = renderTop(model, startView(args.sort, args.filter), size);
  process.stdout.write(lines.map(({ text }) => `${text.trimEnd()}\n`).join(''));
  return readings.some(({ answer }) => answer.kind === 'up') ? 0 : 1;
}

async function runLive(args: TopArguments, watch: BackendWatch): Promise<number> {
  const { stdin, stdout } = process;
  const screen = new TerminalScreen(stdout, !process.env['NO_COLOR']);
  const ending = new AbortController();
  const end = (): void => ending.abort();
  let view = startView(args.sort, args.filter);
  let model: TopModel | undefined;
  const draw = (): void => {
    if (model === undefined || ending.signal.aborted) return;
    screen.draw(renderTop(model, view, sizeOf(stdout)));
  };
  const onKey = (text: string | undefined, key: Partial<Key> | undefined): void => {
    const after = pressKey(view, { name: key?.name, text, ctrl: key?.ctrl ?? false });
    if (after === 'quit') {
      end();
      return;
    }
    view = after;
    draw();
  };
  const restore = (): void => {
    stdin.setRawMode(false);
    screen.leave();
  };
  // An error that nobody catches must not leave its words on a screen that goes away.
  const onCrash = (error: unknown): never => {
    restore();
    process.stderr.write(`spillway top: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, end);
  process.once('uncaughtException', onCrash);
  process.once('exit', restore);
  emitKeypressEvents(stdin);
  stdin.on('keypress', onKey);
  stdin.setRawMode(true);
  screen.enter();
  stdout.on('resize', draw);
  try {
    let before: readonly BackendReading[] = [];
    while (!ending.signal.aborted) {
      if (!view.paused || model === undefined) {
        const readings = await watch.read();
        // A pause also holds back what was under way.
        if (!view.paused || model === undefined) {
          model = topModel(readings, before, Date.now());
          before = readings;
          draw();
        }
      }
      await sleep(args.intervalMs, undefined, { signal: ending.signal }).catch(() => {});
    }
  } finally {
    for (const signal of signals) process.off(signal, end);
    process.off('uncaughtException', onCrash);
    stdin.off('keypress', onKey);
    stdout.off('resize', draw);
    restore();
    process.off('exit', restore);
    stdin.pause();
  }
  return 0;
}
