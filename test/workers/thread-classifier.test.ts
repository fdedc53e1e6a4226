import { expect, it } from 'vitest';
import { BusyError, IllegalStateError } from '../../src/shared/errors.js';
import { ThreadClassifier } from '../../src/workers/thread-classifier.js';

const BUSY = { ok: false, error: new BusyError('later') } as const;

it('judges by the error until the thread attaches with a classifier of its own', () => {
  const classifier = new ThreadClassifier();
  const { classify } = classifier;
  expect(classify({ ok: true, value: 1 })).toBe('success');
  expect(classify(BUSY)).toBe('busy');
  classifier.use(undefined);
  classifier.use(() => 'ignored');
  expect(classify(BUSY)).toBe('ignored');
});

it('takes the same classifier again, and refuses another or what is no function', () => {
  const classifier = new ThreadClassifier();
  const own = () => 'failure' as const;
  classifier.use(own);
  classifier.use(own);
  expect(() => classifier.use(() => 'busy')).toThrow(IllegalStateError);
  expect(() => classifier.use(5 as never)).toThrow('classify must be a function, got 5 (number)');
  expect(classifier.classify(BUSY)).toBe('failure');
});
