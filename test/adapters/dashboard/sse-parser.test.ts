import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SseParser } from '../../../src/adapters/admin/dashboard/page/model/sse-parser.js';

const parse = (...pieces: string[]) => {
  const parser = new SseParser();
  return pieces.flatMap((piece) => parser.push(piece));
};

it('reads name, data and id', () => {
  expect(parse('id: 7\nevent: record\ndata: {"a":1}\n\n')).toEqual([
    { event: 'record', data: '{"a":1}', id: '7' },
  ]);
});

it.each([
  ['comments and unknown fields are passed over', ': hello\nretry: 5\nfoo: 1\ndata: x\n\n', ['x']],
  ['a message without data is none', 'event: state\nid: 3\n\n', []],
  ['only one blank is taken from the front', 'data:  x\n\n', [' x']],
  ['lines of data are joined', 'data: a\ndata\ndata: b\n\n', ['a\n\nb']],
  ['a mark of byte order is passed over', '\ufeffdata: x\n\n', ['x']],
  ['CR, LF and CRLF end lines', 'data: a\r\rdata: b\r\n\r\ndata: c\n\n', ['a', 'b', 'c']],
  ['what is not ended is not told', 'data: a\n\ndata: b\n', ['a']],
])('%s', (_name, text, data) => {
  expect(parse(text).map((message) => message.data)).toEqual(data);
});

it('keeps the id for later messages, and none with a NUL', () => {
  expect(parse('id: 1\ndata: a\n\ndata: b\n\nid: 2\0\ndata: c\n\n').map(({ id }) => id)).toEqual([
    '1',
    '1',
    '1',
  ]);
});

it('ends what never ends a message', () => {
  const parser = new SseParser();
  const line = `data: ${'x'.repeat(1024 * 1024)}\n`;
  expect(() => {
    for (let i = 0; i < 40; i++) parser.push(line);
  }).toThrow(RangeError);
});

const message = fc.record({
  event: fc.constantFrom('state', 'record', ''),
  data: fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, ''))),
});

it('tells the same however the stream is cut', () => {
  fc.assert(
    fc.property(
      fc.array(message),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat(40)),
      (messages, end, cuts) => {
        const stream = messages
          .map(({ event, data }) =>
            [
              event === '' ? ':' : `event: ${event}`,
              ...data.map((one) => `data: ${one}`),
              '',
              '',
            ].join(end),
          )
          .join('');
        const pieces: string[] = [];
        let from = 0;
        for (const cut of cuts) {
          pieces.push(stream.slice(from, from + cut));
          from += cut;
        }
        pieces.push(stream.slice(from), '\n');
        expect(parse(...pieces)).toEqual(
          messages.flatMap(({ event, data }) =>
            data.length === 0
              ? []
              : [{ event: event === '' ? 'message' : event, data: data.join('\n'), id: '' }],
          ),
        );
      },
    ),
  );
});
