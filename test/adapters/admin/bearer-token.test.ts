import * as crypto from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { tokenCheck } from '../../../src/adapters/admin/bearer-token.js';

vi.mock('node:crypto', async (original) => {
  const real = await original<typeof crypto>();
  return { ...real, timingSafeEqual: vi.fn(real.timingSafeEqual) };
});

const TOKEN = 'correct-horse-battery';
const hasToken = tokenCheck(TOKEN);
const compared = vi.mocked(crypto.timingSafeEqual);
beforeEach(() => {
  compared.mockClear();
});

describe('tokenCheck', () => {
  it.each([`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `BEARER   ${TOKEN}`])('takes %s', (header) => {
    expect(hasToken(header)).toBe(true);
  });

  it.each([
    ['nothing', undefined],
    ['an empty header', ''],
    ['no token', 'Bearer '],
    ['the token alone', TOKEN],
    ['another scheme', `Basic ${TOKEN}`],
    ['another scheme before it', `Basic Bearer ${TOKEN}`],
    ['a prefix', `Bearer ${TOKEN.slice(0, -1)}`],
    ['more', `Bearer ${TOKEN}!`],
    ['a space behind it', `Bearer ${TOKEN} `],
    ['another case', `Bearer ${TOKEN.toUpperCase()}`],
    ['two', `Bearer ${TOKEN}, Bearer ${TOKEN}`],
  ])('refuses %s', (_what, header) => {
    expect(hasToken(header)).toBe(false);
  });

  it.each(['x', 'x'.repeat(TOKEN.length), `${TOKEN.slice(0, -1)}x`, 'x'.repeat(8000)])(
    'compares digests of one length in constant time, whatever came: %#',
    (given) => {
      expect(hasToken(`Bearer ${given}`)).toBe(false);
      expect(compared).toHaveBeenCalledOnce();
      const [left, right] = compared.mock.calls[0] ?? [];
      expect([left?.byteLength, right?.byteLength]).toEqual([32, 32]);
    },
  );
});
