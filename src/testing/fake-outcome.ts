import type { Verdict } from '../shared/verdict.js';

export type FakeOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

export type FakeVerdict = Verdict;

export type FakeClassifier<T> = (outcome: FakeOutcome<T>) => FakeVerdict;
