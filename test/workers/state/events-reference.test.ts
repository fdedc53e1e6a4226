import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RUNTIME_EVENTS } from '../../../src/workers/runtime-events.js';
import { eventLines } from '../../../src/workers/state/event-lines.js';
import { sampleEvents } from './sample-events.js';

const text = readFileSync(new URL('../../../docs/reference/events.md', import.meta.url), 'utf8');
const rows = [...text.matchAll(/^\| `[\w-]+` \|.*\|$/gm)].map(([row]) =>
  row
    .split('|')
    .slice(1, 4)
    .map((cell) => cell.trim().replaceAll('`', '')),
);

describe('docs/reference/events.md', () => {
  it('has a line for every event with its level in the log and its fields, and no other', () => {
    expect(rows).toEqual(
      sampleEvents().map((event) => [
        event.name,
        eventLines(event)[0]?.level,
        Object.keys(event.event).join(', '),
      ]),
    );
    expect(rows.map(([name]) => name)).toEqual(RUNTIME_EVENTS);
  });

  it('explains every field', () => {
    const [, explained = ''] = text.split('## Fields');
    const fields = sampleEvents().flatMap(({ event }) => Object.keys(event));
    // These say it by their name, or in the line of their event.
    const plain = 'address failures retryAfterMs version used capacity calls records rpc refused';
    const missing = fields.filter(
      (field) => !plain.split(' ').includes(field) && !explained.includes(`\`${field}\``),
    );
    expect(missing).toEqual([]);
  });
});
