import { describe, expect, it } from 'vitest';
import { CircuitPlace } from '../../../src/shared/breaker/circuit-place.js';
import { PlaceCache } from '../../../src/shared/breaker/place-cache.js';

describe('the cache of addresses', () => {
  it('makes a place once for each spelling', () => {
    let made = 0;
    const cache = new PlaceCache((address) => {
      made += 1;
      return new CircuitPlace(address.toLowerCase());
    });
    expect(cache.get('HOST:80')).toBe(cache.get('HOST:80'));
    expect(cache.get('host:80').address).toBe('host:80');
    expect(made).toBe(2);
  });

  it('stays bounded under a flood of addresses, and keeps what is in use', () => {
    let made = 0;
    const cache = new PlaceCache((address) => {
      made += 1;
      return new CircuitPlace(address);
    }, 100);
    const kept = cache.get('kept');
    for (let i = 0; i < 10_000; i += 1) {
      cache.get(`other-${i}`);
      expect(cache.get('kept')).toBe(kept);
      expect(cache.size).toBeLessThanOrEqual(100);
    }
    expect(made).toBe(10_001);
  });

  it('keeps nothing of an address that is refused', () => {
    const cache = new PlaceCache(() => {
      throw new RangeError('no address');
    });
    expect(() => cache.get('')).toThrow(RangeError);
    expect(cache.size).toBe(0);
  });
});
