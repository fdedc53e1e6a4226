import { configProblem } from './config-problem.js';
import type { ResolvedConfig } from './resolved-config.js';

/** Refuses more addresses than the arena has been laid out for. */
export function requireAddressRoom({ breaker }: ResolvedConfig, room: number): void {
  if (breaker.maxAddresses <= room) return;
  const rule = `must be at most ${room} at run time (it was that at the start)`;
  throw configProblem('breaker.maxAddresses', rule, breaker.maxAddresses);
}
