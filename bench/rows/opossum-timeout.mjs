import { timeBreaker } from './opossum.mjs';

export function measure() {
  return timeBreaker(10_000);
}
