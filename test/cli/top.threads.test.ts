import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAIN, runCommand } from './command-process.js';
import {
  busyState,
  HOSTILE_NAMES,
  limit,
  type ScriptedBackend,
  startBackend,
} from './scripted-backend.js';

// The live view in a real terminal: tmux, with a server of its own. What is waited for is text on the screen.

const PATIENCE_MS = 60_000;
const SLOW = [
  limit('slow', { qpsLimit: 50, currentQps: 49 }),
  limit('slowest', { qpsLimit: 1.5, currentQps: 1 }),
  limit('10086', { qpsLimit: 12, currentQps: 90 }),
];

let backend: ScriptedBackend;
/** A server that is going away would take a new session with it: each has its own socket. */
let terminals = 0;

beforeEach(async () => {
  backend = await startBackend(busyState('10001', SLOW));
});

afterEach(async () => {
  await tmux('kill-server').catch(() => {});
  await backend.stop();
});

async function tmux(...args: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(
      'tmux',
      ['-u', '-L', `spillway-top-${process.pid}-${terminals}`, '-f', '/dev/null', ...args],
      {
        env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' },
      },
    );
    return stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error('tmux is missing: install tmux', { cause: error });
  }
}

/** Starts the command in a terminal, whose shell says its exit code afterwards. */
async function start(
  columns: number,
  rows: number,
  args: readonly string[] = [],
  environment = '',
): Promise<void> {
  const words = ['top', '--backends', backend.url, '--interval', '0.1', ...args].join(' ');
  terminals += 1;
  const shell = `echo before; ${environment} '${process.execPath}' '${MAIN}' ${words}; echo "ended with $?"; exec sleep 1000`;
  await tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), shell);
}

async function press(...keys: string[]): Promise<void> {
  await tmux('send-keys', ...keys);
}

/** Resolves to the screen once it is as wanted. */
async function screen(wanted: (text: string) => boolean, escapes = false): Promise<string> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const text = await tmux('capture-pane', '-p', ...(escapes ? ['-e'] : []));
    if (wanted(text)) return text;
    if (performance.now() > deadline) throw new Error(`not on the screen in time:\n${text}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

function has(...words: string[]): (text: string) => boolean {
  return (text) => words.every((word) => text.includes(word));
}

/** The table key of the first pair. */
function firstPair(text: string): string | undefined {
  const lines = text.split('\n');
  const heads = lines.findIndex((line) => line.includes('LIMIT/s') && line.includes('TABLE'));
  return lines[heads + 1]?.split(/\s+/)[2];
}

describe('in a terminal', () => {
  it('shows what is slowed at 80 by 24, and gives the screen back', async () => {
    await start(80, 24);
    const text = await screen(has('Changes of limits'));
    expect(firstPair(text)).toBe('slowest');
    for (const word of [
      '1/1 up',
      '3 throttled',
      'be 10001',
      '10.0.0.1:8060',
      '4.2s',
      'orders/1',
      '412 BUSY in 3000 ms',
    ]) {
      expect(text).toContain(word);
    }
    // The last column is there to its last character.
    expect(text).toMatch(/FOR$/m);
    await press('q');
    const after = await screen(has('ended with 0'));
    expect(after).toContain('before');
    expect(after).not.toContain('slowest');
  });

  it('follows the backend, until it is paused', async () => {
    await start(80, 24);
    await screen(has('slowest'));
    backend.state = busyState('10001', [limit('another')]);
    await screen(has('another'));
    await press('Space');
    await screen(has('PAUSED'));
    backend.state = busyState('10001', SLOW);
    const asked = backend.asked;
    await press('h');
    await screen(has('quit'));
    await press('x');
    expect(await screen(has('Throttled by'))).toContain('another');
    expect(backend.asked).toBeLessThanOrEqual(asked + 1);
    await press('Space');
    await screen(has('slowest'));
  });

  it('sorts, filters and shows sections', async () => {
    await start(80, 24);
    await screen(has('slowest'));
    await press('s');
    expect(firstPair(await screen(has('Throttled by qps')))).toBe('10086');
    await press('/', '8', '0', '6', '0');
    await screen(has('filter: 8060_'));
    await press('Enter');
    const filtered = await screen(
      (text) => text.includes('filter: 8060') && !text.includes('slowest'),
    );
    expect(filtered).toContain('10.0.0.1:8060');
    await press('Escape');
    await screen(has('slowest'));
    await press('4');
    expect(await screen(has('Pressure (2)'))).not.toContain('Throttled by');
    await press('6');
    await screen(has('Throttled by qps', 'Pressure'));
  });

  it('says when a backend has gone, and when it is back', async () => {
    await start(100, 24);
    await screen(has('up ', 'slowest'));
    backend.answer = (request) => request.socket.destroy();
    await screen(has('stale', ' old: '));
    backend.answer = undefined;
    await screen((text) => !text.includes('stale'));
  });

  it('fits another size at once', async () => {
    await start(120, 30);
    await screen(has('REFUSED/s'));
    await tmux('resize-window', '-x', '44', '-y', '10');
    const narrow = await screen((text) => text.includes('slowest') && !text.includes('BEFORE/s'));
    expect(narrow.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
    await tmux('resize-window', '-x', '100', '-y', '24');
    await screen(has('BEFORE/s', 'slowest'));
  });

  it.each(['INT', 'TERM', 'HUP'])('SIG%s ends it, and gives the screen back', async (signal) => {
    await start(80, 24);
    await screen(has('slowest'));
    const pane = (await tmux('display-message', '-p', '#{pane_pid}')).trim();
    const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', pane]);
    process.kill(Number(stdout.trim()), `SIG${signal}`);
    expect(await screen(has('ended with 0'))).toContain('before');
  });

  it('Ctrl-C ends it', async () => {
    await start(80, 24);
    await screen(has('slowest'));
    await press('C-c');
    expect(await screen(has('ended with 0'))).toContain('before');
  });

  it('a crash gives the screen back before it says what happened', async () => {
    const crash = "setInterval(()=>{if(process.stdin.isRaw)throw new Error('boom')},50)";
    const url = `data:text/javascript,${encodeURIComponent(crash).replaceAll("'", '%27')}`;
    await start(80, 24, [], `NODE_OPTIONS='--import=${url}'`);
    const text = await screen(has('ended with 1'));
    expect(text).toContain('before');
    expect(text).toContain('spillway top: Error: boom');
    expect(await tmux('display-message', '-p', '#{alternate_on}#{cursor_flag}#{wrap_flag}')).toBe(
      '011\n',
    );
  });

  it('names cannot write to the terminal', async () => {
    backend.state = busyState(
      '1',
      HOSTILE_NAMES.map((name, i) => limit(name, { qpsLimit: i })),
    );
    await start(100, 40);
    const text = await screen(has('\\u{1b}[31mred', '\\u{202e}', 'line\\nbreak', '<script>'));
    expect(text).toContain('漢字');
    expect(await tmux('display-message', '-p', '#{pane_title}')).not.toContain('title');
  });

  it('has colours, unless NO_COLOR is set', async () => {
    await start(80, 24);
    expect(await screen(has('slowest'), true)).toContain('\u001b[');
    await tmux('kill-server');
    await start(80, 24, [], 'NO_COLOR=1');
    expect(await screen(has('slowest'), true)).not.toContain('\u001b[');
  });
});

describe('without a terminal', () => {
  it('prints one table and exits', async () => {
    const args = ['top', '--backends', backend.url, '--interval', '0.1'];
    const { code, stdout, stderr } = await runCommand(args, { COLUMNS: '80' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('\u001b');
    expect(firstPair(stdout)).toBe('slowest');
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('fails when no backend answers', async () => {
    backend.answer = (_request, response) => {
      response.statusCode = 401;
      response.end();
    };
    const { code, stdout } = await runCommand([
      'top',
      '--once',
      '--backends',
      backend.url,
      '--interval',
      '0.1',
    ]);
    expect(code).toBe(1);
    expect(stdout).toContain('unreachable');
    expect(stdout).toContain('HTTP 401: it wants a token');
  });
});
