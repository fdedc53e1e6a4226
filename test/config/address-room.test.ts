import { expect, it } from 'vitest';
import { requireAddressRoom } from '../../src/workers/config/address-room.js';
import { resolveConfig } from '../../src/workers/config/resolve-config.js';

const config = (maxAddresses: number) => resolveConfig({ breaker: { maxAddresses } }, 4);

it('lets breaker.maxAddresses be lowered, and raised again to what it was at the start', () => {
  expect(() => requireAddressRoom(config(1), 100)).not.toThrow();
  expect(() => requireAddressRoom(config(100), 100)).not.toThrow();
});

it('refuses more than the arena was laid out for', () => {
  expect(() => requireAddressRoom(config(101), 100)).toThrow(
    'breaker.maxAddresses must be at most 100 at run time (it was that at the start), got 101',
  );
});
