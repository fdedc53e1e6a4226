import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { isLoopbackAddress, isLoopbackHost } from '../../../src/adapters/admin/loopback.js';
import { type GuardedRequest, guard } from '../../../src/adapters/admin/request-guard.js';

const request = (headers: IncomingHttpHeaders, parts: Partial<GuardedRequest> = {}) => ({
  method: 'GET',
  path: '/state',
  remoteAddress: '127.0.0.1',
  ...parts,
  headers: { host: 'localhost:9090', ...headers },
});
const isRight = (authorization: string | undefined) => authorization === 'right';

describe('isLoopbackAddress', () => {
  it.each(['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])(
    'says yes to %s',
    (address) => expect(isLoopbackAddress(address)).toBe(true),
  );
  it.each([
    '0.0.0.0',
    '::',
    '128.0.0.1',
    '10.0.0.1',
    '::2',
    '::ffff:10.0.0.1',
    'fe80::1',
    'localhost',
    '127.1',
    '',
  ])('says no to %s', (address) => expect(isLoopbackAddress(address)).toBe(false));
});

describe('isLoopbackHost', () => {
  it.each(['localhost', 'LocalHost:80', '127.0.0.1:9090', '127.3.2.1', '[::1]', '[::1]:65535'])(
    'says yes to %s',
    (host) => expect(isLoopbackHost(host)).toBe(true),
  );
  it.each([
    undefined,
    '',
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:127.0.0.1',
    'user@localhost',
    '127.0.0.1@evil.example',
    '10.0.0.1',
    '0.0.0.0',
    '::1',
    '[::2]',
    '[127.0.0.1]',
    'localhost:port',
    'localhost, evil.example',
  ])('says no to %s', (host) => expect(isLoopbackHost(host)).toBe(false));
});

describe('guard', () => {
  it('lets this machine ask for a loopback name when there is no token', () => {
    expect(guard(request({}), undefined)).toBeUndefined();
    expect(
      guard(request({ host: '[::1]:1' }, { remoteAddress: '::1' }), undefined),
    ).toBeUndefined();
  });

  it.each([
    ['a name that somebody lets point here', request({ host: 'evil.example' })],
    ['another machine', request({}, { remoteAddress: '10.1.2.3' })],
    ['nobody', request({}, { remoteAddress: undefined })],
  ])('refuses %s, for any path', (_who, from) => {
    for (const path of ['/', '/healthz', '/config', '/nowhere']) {
      expect(guard({ ...from, path }, undefined)).toMatchObject({ status: 403, code: 'forbidden' });
    }
  });

  it('asks for the token whoever asks, but for the page and the health', () => {
    const far = { host: 'backend7:9090' };
    expect(guard(request({ ...far, authorization: 'right' }), isRight)).toBeUndefined();
    for (const path of ['/', '/healthz']) {
      expect(guard(request(far, { path }), isRight)).toBeUndefined();
    }
    for (const path of [
      '/state',
      '/events',
      '/config',
      '/metrics',
      '/nowhere',
      '//',
      '/healthz/',
    ]) {
      expect(guard(request(far, { path }), isRight)).toMatchObject({
        status: 401,
        message: 'a token is needed',
        headers: { 'www-authenticate': 'Bearer realm="spillway"' },
      });
    }
    expect(guard(request({ authorization: 'wrong' }), isRight)).toMatchObject({
      status: 401,
      message: 'the token is not the right one',
      headers: { 'www-authenticate': 'Bearer realm="spillway", error="invalid_token"' },
    });
  });

  it.each<[string, GuardedRequest]>([
    ['a script of another site', request({ 'sec-fetch-site': 'cross-site' })],
    ['a script of another port', request({ 'sec-fetch-site': 'same-site' })],
    [
      'a form of another site',
      request(
        {
          'sec-fetch-site': 'cross-site',
          'sec-fetch-mode': 'navigate',
          'sec-fetch-dest': 'document',
        },
        { method: 'POST' },
      ),
    ],
    [
      'a frame of another site',
      request({
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'iframe',
      }),
    ],
    ['an older browser at another site', request({ origin: 'https://evil.example' })],
    ['another port of this machine', request({ origin: 'http://localhost:3000' })],
    ['a sandbox', request({ origin: 'null' })],
    ['no origin', request({ origin: '' })],
  ])('refuses %s, with the token too', (_who, from) => {
    const told = { status: 403, message: 'requests of other sites are not answered' };
    expect(guard(from, undefined)).toMatchObject(told);
    const headers = { ...from.headers, authorization: 'right' };
    expect(guard({ ...from, headers }, isRight)).toMatchObject(told);
  });

  it.each<[string, GuardedRequest]>([
    ['its own page', request({ 'sec-fetch-site': 'same-origin', origin: 'http://localhost:9090' })],
    [
      'its own page behind a proxy that rewrites the host',
      request({ 'sec-fetch-site': 'same-origin', origin: 'https://ops.example' }),
    ],
    ['its own page in an older browser', request({ origin: 'http://localhost:9090' })],
    ['an address that was typed', request({ 'sec-fetch-site': 'none' })],
    [
      'a link',
      request({
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      }),
    ],
    ['no browser', request({})],
  ])('lets pass %s', (_who, from) => {
    expect(guard(from, undefined)).toBeUndefined();
    expect(guard({ ...from, method: 'PATCH', path: '/config' }, undefined) === undefined).toBe(
      _who !== 'a link',
    );
  });
});
