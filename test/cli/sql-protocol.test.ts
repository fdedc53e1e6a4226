import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameError, MessageFrames } from '../../src/cli/sql/message-frames.js';
import { mayReadTables } from '../../src/cli/sql/reads-tables.js';
import { ScramExchange, scramSecret } from '../../src/cli/sql/scram.js';
import { readStartupPacket, settingsOf } from '../../src/cli/sql/startup-packet.js';
import { int32, message } from '../../src/cli/sql/wire-messages.js';

describe('messages', () => {
  it('are the same however the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 }),
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
        (bodies, cuts) => {
          const stream = Buffer.concat(bodies.map((body) => message('D', body)));
          const frames = new MessageFrames(1000);
          const seen: Uint8Array[] = [];
          for (let at = 0, i = 0; at < stream.length; i += 1) {
            const end = at + (cuts[i % cuts.length] ?? 1);
            seen.push(...frames.push(stream.subarray(at, end)).map(({ body }) => body));
            at = end;
          }
          expect(seen.map((body) => [...body])).toEqual(bodies.map((body) => [...body]));
        },
      ),
    );
  });

  it.each([3, -1, 1001, 2 ** 31 - 1])('of the length %i end the stream', (length) => {
    const frames = new MessageFrames(1000);
    expect(() => frames.push(Buffer.concat([Buffer.from('Q'), int32(length)]))).toThrow(FrameError);
  });
});

describe('the first packet', () => {
  function packet(code: number, body: Uint8Array = Buffer.alloc(0)): Buffer {
    return Buffer.concat([int32(body.length + 8), int32(code), body]);
  }

  it('asks for TLS, for GSSAPI, for a cancel', () => {
    expect(readStartupPacket(packet(80877103))?.packet).toEqual({ kind: 'encrypt' });
    expect(readStartupPacket(packet(80877104))?.packet).toEqual({ kind: 'encrypt' });
    const body = Buffer.concat([int32(7), int32(-9)]);
    expect(readStartupPacket(packet(80877102, body))?.packet).toEqual({
      kind: 'cancel',
      pid: 7,
      secret: -9,
    });
  });

  it('starts a session with parameters, and may come in parts', () => {
    const body = Buffer.from('user\0me\0application_name\0psql\0options\0-c a=b\\ c --x-y=1\0\0');
    const whole = packet(196_608, body);
    expect(readStartupPacket(whole.subarray(0, 10))).toBeUndefined();
    const read = readStartupPacket(whole);
    expect(read?.length).toBe(whole.length);
    const { packet: startup } = read ?? {};
    if (startup?.kind !== 'startup') throw new Error('no startup');
    expect(settingsOf(startup.parameters)).toEqual([
      ['a', 'b c'],
      ['x_y', '1'],
      ['application_name', 'psql'],
    ]);
  });

  it.each<[string, Buffer]>([
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['protocol 2', packet(2 << 16)],
    ['parameters without an end', packet(196_608, Buffer.from('user\0me\0'))],
    ['a short cancel', packet(80877102, int32(1))],
    ['a huge one', int32(2 ** 30)],
  ])('refuses %s', (_what, bytes) => {
    expect(() => readStartupPacket(bytes)).toThrow(FrameError);
  });

  it('never fails in another way', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          readStartupPacket(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError);
        }
      }),
    );
  });
});

describe('SCRAM-SHA-256', () => {
  // RFC 7677, section 3.
  const secret = scramSecret('pencil', Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64'), 4096);
  const first = 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO';
  const nonce = 'rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0';
  const proof = 'dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=';
  const exchange = (): ScramExchange => new ScramExchange(secret, '%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0');

  it('goes as its standard says', () => {
    const scram = exchange();
    expect(scram.first(first)).toBe(`r=${nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`);
    expect(scram.final(`c=biws,r=${nonce},p=${proof}`)).toBe(
      'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
    );
  });

  it.each([
    ['another proof', `c=biws,r=${nonce},p=${proof.replace('dHz', 'dHx')}`],
    ['a short proof', `c=biws,r=${nonce},p=dHz=`],
    ['another nonce', `c=biws,r=${nonce}x,p=${proof}`],
    ['another header', `c=eSws,r=${nonce},p=${proof}`],
    ['no proof', `c=biws,r=${nonce}`],
  ])('lets nobody in with %s', (_what, final) => {
    const scram = exchange();
    scram.first(first);
    expect(scram.final(final)).toBeUndefined();
  });

  it.each(['p=tls-server-end-point,,n=,r=x', 'n,,m=ext,n=,r=x', 'n,,n=,r=', ''])(
    'refuses to begin with %j',
    (text) => {
      expect(exchange().first(text)).toBeUndefined();
    },
  );
});

it.each([
  ['BEGIN', false],
  [' begin isolation level repeatable read ; ', false],
  ['SET x = 1', false],
  ['COMMIT', false],
  ['SELECT 1', true],
  ['BEGIN; SELECT 1', true],
  ['/* BEGIN */ SELECT 1', true],
  ['EXECUTE p', true],
  ['beginning', true],
])('%j may read tables: %s', (sql, may) => {
  expect(mayReadTables(sql)).toBe(may);
});
