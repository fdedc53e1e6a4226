import { describe, expect, it } from 'vitest';
import { QuiescenceWords, quiescenceBytes } from '../../src/shared/quiescence.js';

const create = (threads: number, epoch = 0): QuiescenceWords => {
  const buffer = new SharedArrayBuffer(quiescenceBytes(threads));
  new Int32Array(buffer)[0] = epoch;
  return new QuiescenceWords(buffer, 0, threads);
};

describe('QuiescenceWords', () => {
  it('waits for nobody when nobody is attached', () => {
    const quiescence = create(4);
    expect(quiescence.passed(quiescence.request())).toBe(true);
  });

  it('waits for every attached thread, and only for what they pass after the request', () => {
    const quiescence = create(4);
    quiescence.pass(0);
    quiescence.pass(3);
    const epoch = quiescence.request();
    expect(quiescence.passed(epoch)).toBe(false);
    quiescence.pass(0);
    expect(quiescence.passed(epoch)).toBe(false);
    quiescence.pass(3);
    expect(quiescence.passed(epoch)).toBe(true);
    expect(quiescence.passed(quiescence.request())).toBe(false);
  });

  it('does not wait for a thread that has left, or attached since', () => {
    const quiescence = create(2);
    quiescence.pass(0);
    const epoch = quiescence.request();
    quiescence.leave(0);
    expect(quiescence.passed(epoch)).toBe(true);
    quiescence.pass(1);
    expect(quiescence.passed(epoch)).toBe(true);
  });

  it('keeps several epochs apart', () => {
    const quiescence = create(1);
    quiescence.pass(0);
    const first = quiescence.request();
    quiescence.pass(0);
    const second = quiescence.request();
    expect([quiescence.passed(first), quiescence.passed(second)]).toEqual([true, false]);
  });

  it.each([-3, 2 ** 30 - 3, 2 ** 31 - 4])('goes on when its epochs wrap, from %i', (start) => {
    const quiescence = create(1, start);
    quiescence.pass(0);
    for (let i = 0; i < 8; i++) {
      const epoch = quiescence.request();
      expect(quiescence.passed(epoch)).toBe(false);
      quiescence.pass(0);
      expect(quiescence.passed(epoch)).toBe(true);
    }
  });
});
