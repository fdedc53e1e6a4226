import { configProblem, describeValue } from './config-problem.js';
import { type OptionLayer, valueIn } from './option-layer.js';
import { OPTIONS } from './option-table.js';
import type { ResolvedConfig } from './resolved-config.js';

/** Refuses a change of what is fixed for the life of a runtime. Naming it with the value that it has is no change. */
export function requireSameImmutables(
  current: ResolvedConfig,
  next: ResolvedConfig,
  layers: readonly OptionLayer[],
): void {
  for (const spec of OPTIONS) {
    if (spec.immutable === undefined) continue;
    const keys = spec.path.split('.');
    const [before, after] = [valueIn(current, keys), valueIn(next, keys)];
    if (Object.is(before, after)) continue;
    const problem = layers.find((layer) => valueIn(layer.values, keys) !== undefined)?.problem;
    const rule = `cannot change at run time (${spec.path} is ${describeValue(before)})`;
    throw (problem ?? configProblem)(spec.path, rule, after);
  }
}
