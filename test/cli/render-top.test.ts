import { describe, expect, it } from 'vitest';
import type { BackendReading } from '../../src/cli/backend-watch.js';
import { textWidth } from '../../src/cli/text-width.js';
import { renderTop, type ScreenSize } from '../../src/cli/top/render-top.js';
import { sizeOf, TerminalScreen } from '../../src/cli/top/terminal-screen.js';
import { type TopModel, topModel } from '../../src/cli/top/top-model.js';
import { type Key, pressKey, startView, type TopView } from '../../src/cli/top/top-view.js';
import type { RuntimeState } from '../../src/workers/state/runtime-state.js';
import { rpcSample, snapshotSample } from '../adapters/snapshot-sample.js';
import { busyState, HOSTILE_NAMES, limit } from './scripted-backend.js';

const AT = Date.parse('2026-03-01T00:01:00Z');

function up(state: RuntimeState, url = 'http://127.0.0.1:9464'): BackendReading {
  return { url, answer: { kind: 'up', state, tookMs: 1 }, last: state, ageMs: 0 };
}

function down(ageMs: number | undefined, last?: RuntimeState): BackendReading {
  return {
    url: 'http://127.0.0.1:9999',
    answer: { kind: 'down', error: 'connect ECONNREFUSED', tookMs: 1 },
    last,
    ageMs,
  };
}

function screen(
  model: TopModel,
  parts: Partial<TopView> = {},
  size: Partial<ScreenSize> = {},
): string[] {
  const view = { ...startView('severity', ''), ...parts };
  const lines = renderTop(model, view, { columns: 80, rows: 24, ...size });
  return lines.map(({ text }) => text.trimEnd());
}

const limits = [
  limit('slow', { qpsLimit: 50, currentQps: 49 }),
  limit('slowest', { qpsLimit: 1.5, currentQps: 1, sinceMs: 59_000 }),
  limit('10086', { qpsLimit: 12, currentQps: 90 }),
];
const state = busyState('10001', limits);

describe('the screen', () => {
  it('shows what is slowed, most severe first, at 80 by 24', () => {
    const model = topModel([up(state), down(undefined)], [], AT);
    expect(screen(model)).toEqual([
      'spillway top 00:01:00Z  1/2 up  3 throttled  BUSY 0/s  h help',
      'up          http://127.0.0.1:9464 be 10001  level 1 for 10.0s  BUSY -/s  3 thro…',
      'unreachable http://127.0.0.1:9999  connect ECONNREFUSED',
      'Throttled by severity (3)',
      'BE    RPC           TABLE      LIMIT/s   NOW/s BEFORE/s    FOR',
      '10001 commit_rowset slowest        1.5       1       48   1.0s',
      '10001 commit_rowset 10086           12      90       48  59.0s',
      '10001 commit_rowset slow            50      49       48  59.0s',
      'Host limits, fullest first (1)',
      'BE    RPC            USED LIMIT/s CALLS/s BUSY/s REFUSED/s',
      '10001 commit_rowset     -     100       -      -         -',
      'Circuits (1)',
      'BE    ADDRESS       STATE     FAILURES PROBE IN',
      '10001 10.0.0.1:8060 open             3     4.2s',
      'Pressure (2)',
      'BE    SIDE   BUCKET       PRESSURE   LEFT   L0 PENDING',
      '10001 client orders/1         0.80  250ms    -       -',
      '10001 store  orders/1         0.30      -    9    1234',
      'Changes of limits, newest first (1)',
      'BE       AGO KIND      LEVEL PAIRS REASON',
      '10001  10.0s upgrade       1     3 412 BUSY in 3000 ms',
    ]);
  });

  it('counts all that is slowed and changed, and no upgrade that found nothing to slow', () => {
    const [first] = state.history;
    const empty = { ...first!, seq: 2, atMs: 58_000, changed: 0, changes: [] };
    const history = [{ ...first!, changed: 5000 }, empty];
    const model = topModel([up({ ...state, throttledTotal: 5000, history })], [], AT);
    expect(model.backends[0]).toMatchObject({ throttled: 5000, levelForMs: 10_000 });
    expect(model.changes.map(({ pairs }) => pairs)).toEqual([0, 5000]);
  });

  it('tells a dry run', () => {
    const rehearsed = { ...state.runtime!, dryRun: { host: false, tables: true } };
    const [, line] = screen(topModel([up({ ...state, runtime: rehearsed })], [], AT));
    expect(line).toContain('level 1 for 10.0s (dry run)');
    expect(screen(topModel([up(state)], [], AT)).join()).not.toContain('dry run');
  });

  it('makes rates of two looks at the same runtime', () => {
    const rpcs = [
      rpcSample('commit_rowset', { qpsLimit: 100, calls: 5400, busy: 60, spent: 5180 }),
    ];
    const runtime = { ...(state.runtime ?? snapshotSample()), rpcs };
    const later = { ...state, atMs: state.atMs + 2000, runtime };
    const text = screen(topModel([up(later)], [up(state)], AT)).join('\n');
    expect(text).toContain('BUSY 10/s');
    expect(text).toContain('commit_rowset   90%     100     200     10');
    const other = { ...later, runtimeId: 'restarted' };
    expect(screen(topModel([up(other)], [up(state)], AT)).join('\n')).toContain('BUSY -/s');
  });

  it('keeps showing what is stale for a while, and says how old it is', () => {
    const stale = screen(topModel([down(3000, state)], [], AT)).join('\n');
    expect(stale).toContain('stale       http://127.0.0.1:9999 be 10001  3.0s old');
    expect(stale).toContain('slowest');
    const gone = screen(topModel([down(15_001, state)], [], AT)).join('\n');
    expect(gone).toContain('unreachable http://127.0.0.1:9999 be 10001  connect ECONNREFUSED');
    expect(gone).not.toContain('slowest');
  });

  it.each([
    ['qps', '10086'],
    ['table', '10086'],
    ['since', 'slowest'],
    ['severity', 'slowest'],
  ] as const)('sorts by %s', (sort, first) => {
    expect(screen(topModel([up(state)], [], AT), { sort })[4]).toContain(` ${first} `);
  });

  it('filters every section', () => {
    const model = topModel([up(state)], [], AT);
    const text = screen(model, { filter: '8060' });
    expect(text.join('\n')).toContain('10.0.0.1:8060');
    expect(text.join('\n')).not.toContain('slowest');
    expect(screen(model, { filter: 'nowhere' }).at(-1)).toBe('nothing matches the filter');
    expect(screen(model, { filter: 'SLOWEST' }).join('\n')).toContain('slowest');
  });

  it('shows one section, and scrolls in it', () => {
    const many = Array.from({ length: 100 }, (_, i) => limit(`t${i}`, { qpsLimit: i }));
    const model = topModel([up(busyState('1', many))], [], AT);
    const lines = screen(model, { section: 'throttled', scroll: 10 });
    expect(lines[2]).toBe('Throttled by severity (11-30 of 100)');
    expect(lines[4]).toContain(' t10 ');
    expect(lines).toHaveLength(24);
    const end = screen(model, { section: 'throttled', scroll: 1_000_000 });
    expect(end.at(-1)).toContain(' t99 ');
    expect(screen(model, { section: 'circuits' }).join('\n')).not.toContain('Throttled by');
  });

  it('says that nothing is slowed', () => {
    const quiet = { ...busyState('1', []), history: [], stores: [] };
    const runtime = { ...snapshotSample(), rpcs: [] };
    expect(screen(topModel([up({ ...quiet, runtime })], [], AT)).at(-1)).toBe('nothing is slowed');
  });

  it('counts backends for which there is no room', () => {
    const readings = Array.from({ length: 30 }, (_, i) => up(state, `http://b${i}`));
    const lines = screen(topModel([...readings, down(undefined)], [], AT));
    expect(lines[8]).toBe('and 24 more backends, 1 of them not up');
    expect(lines.join('\n')).toContain('Throttled');
  });

  it('fits every size, whatever the names', () => {
    const hostile = HOSTILE_NAMES.map((name, i) => limit(name, { rpc: name, qpsLimit: i }));
    const model = topModel(
      [up(busyState(HOSTILE_NAMES[0] ?? '', hostile)), down(undefined)],
      [],
      AT,
    );
    for (const columns of [1, 2, 10, 20, 33, 40, 79, 80, 81, 120, 200]) {
      for (const rows of [1, 2, 3, 5, 10, 24, 60]) {
        for (const section of [undefined, 'throttled', 'pressure'] as const) {
          const lines = screen(model, { section }, { columns, rows });
          expect(lines.length).toBeLessThanOrEqual(rows);
          for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
          expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
        }
      }
    }
  });

  it('leaves out what matters least when it is narrow', () => {
    const model = topModel([up(state)], [], AT);
    const narrow = screen(model, { section: 'throttled' }, { columns: 42 });
    expect(narrow[3]).toBe('RPC           TABLE      LIMIT/s   NOW/s');
    expect(narrow[4]).toContain('slowest');
  });

  it('explains its keys', () => {
    const text = screen(topModel([up(state)], [], AT), { help: true }).join('\n');
    for (const word of ['quit', 'sort', 'filter', 'pause', 'scroll']) expect(text).toContain(word);
  });
});

describe('keys', () => {
  const start = startView('severity', '');

  function press(...keys: (string | Partial<Key>)[]): TopView | 'quit' {
    let view: TopView | 'quit' = start;
    for (const key of keys) {
      if (view === 'quit') throw new Error('it has quit');
      const typed = typeof key === 'string' ? { name: key, text: key } : key;
      view = pressKey(view, { name: undefined, text: undefined, ctrl: false, ...typed });
    }
    return view;
  }

  it('quit', () => {
    expect(press('q')).toBe('quit');
    expect(press({ name: 'c', ctrl: true })).toBe('quit');
    expect(press('/', { name: 'c', ctrl: true })).toBe('quit');
    expect(press('h', 'q')).toBe('quit');
  });

  it('sort, in a ring', () => {
    expect(press('s')).toMatchObject({ sort: 'qps' });
    expect(press('s', 's', 's', 's')).toMatchObject({ sort: 'severity' });
  });

  it('type a filter', () => {
    const esc = { name: 'escape' };
    const enter = { name: 'return', text: '\r' };
    expect(press('/', 'a', 'q')).toMatchObject({ typing: 'aq', filter: '' });
    expect(press('/', 'a', '漢', { name: 'backspace' }, enter)).toMatchObject({
      typing: undefined,
      filter: 'a',
    });
    expect(press('/', 'a', esc)).toMatchObject({ typing: undefined, filter: '' });
    expect(press('/', 'a', enter, esc)).toMatchObject({ filter: '' });
    expect(press('/', 'a', { name: 'u', ctrl: true }, 'b')).toMatchObject({ typing: 'b' });
    expect(press('/', { text: '\u001b[A', name: 'up' })).toMatchObject({ typing: '' });
  });

  it('pause, scroll, sections, help', () => {
    expect(press('p')).toMatchObject({ paused: true });
    expect(press({ name: 'space', text: ' ' }, 'p')).toMatchObject({ paused: false });
    expect(press({ name: 'down' }, { name: 'pagedown' }, { name: 'up' })).toMatchObject({
      scroll: 10,
    });
    expect(press({ name: 'up' })).toMatchObject({ scroll: 0 });
    expect(press('2')).toMatchObject({ section: 'hosts' });
    expect(press('5', '6')).toMatchObject({ section: undefined });
    expect(press('h')).toMatchObject({ help: true });
    expect(press('?', 'x')).toMatchObject({ help: false });
    expect(press('x', { name: 'f5' })).toEqual(start);
  });
});

describe('the terminal', () => {
  it('is taken for one of the usual size when it does not know its own', () => {
    expect(sizeOf({ columns: 0, rows: 0 })).toEqual({ columns: 80, rows: 24 });
    expect(sizeOf({ columns: 132, rows: 1 })).toEqual({ columns: 132, rows: 1 });
  });

  function fake(colours: boolean): { written: string[]; screen: TerminalScreen } {
    const written: string[] = [];
    return {
      written,
      screen: new TerminalScreen({ write: (text) => written.push(text) }, colours),
    };
  }

  it('is given back once, and only when it was taken', () => {
    const { written, screen: terminal } = fake(true);
    terminal.leave();
    terminal.enter();
    terminal.enter();
    terminal.leave();
    terminal.leave();
    terminal.draw([{ text: 'late', tone: 'plain' }]);
    expect(written).toEqual([
      '\u001b[?1049h\u001b[?25l\u001b[?7l',
      '\u001b[?7h\u001b[?25h\u001b[0m\u001b[?1049l',
    ]);
  });

  it('has no colours when it is asked for none', () => {
    const { written, screen: terminal } = fake(false);
    terminal.enter();
    terminal.draw([
      { text: 'a', tone: 'title' },
      { text: 'b', tone: 'bad' },
    ]);
    expect(written[1]).toBe('\u001b[H\u001b[2Ka\r\n\u001b[2Kb\u001b[J');
    const coloured = fake(true);
    coloured.screen.enter();
    coloured.screen.draw([{ text: 'b', tone: 'bad' }]);
    expect(coloured.written[1]).toContain('\u001b[31mb\u001b[0m');
  });
});
