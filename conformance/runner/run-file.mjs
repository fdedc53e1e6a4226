// Runs the cases of one vector file against every backend of its suite.
import { mismatch } from './match.mjs';
import { UnusableFileError } from './vector-file.mjs';

/**
 * @typedef {Readonly<Record<string, unknown>>} Inputs
 * @typedef {Readonly<Record<string, (inputs: Inputs) => unknown>>} Operations by the name of the op
 * @typedef {{ readonly name: string, readonly create: (params: Inputs) => Operations }} Backend
 * @typedef {{ readonly ops: readonly string[], readonly backends: readonly Backend[] }} Suite
 * @typedef {import('./match.mjs').Tolerance} Tolerance
 * @typedef {import('./vector-file.mjs').Case} Case
 * @typedef {import('./vector-file.mjs').Step} Step
 * @typedef {import('./vector-file.mjs').VectorFile} VectorFile
 * @typedef {{ readonly passed: number, readonly failures: readonly string[] }} FileResult
 */

const DEFAULT_TOLERANCE = { tol: 1e-9, absTol: 0 };

/**
 * @param {VectorFile} file
 * @param {ReadonlyMap<string, Suite>} suites
 * @returns {FileResult}
 */
export function runFile(file, suites) {
  const suite = suites.get(file.suite);
  if (suite === undefined) {
    throw new UnusableFileError(`is of the suite '${file.suite}', which is not known here`);
  }
  for (const { name, steps } of file.cases) {
    const unknown = steps.find(({ op }) => !suite.ops.includes(op));
    if (unknown !== undefined) {
      throw new UnusableFileError(
        `has the op '${unknown.op}' in '${name}', which the suite '${file.suite}' does not know`,
      );
    }
  }
  let passed = 0;
  const failures = [];
  for (const backend of suite.backends) {
    for (const one of file.cases) {
      const failure = runCase(one, backend, within(DEFAULT_TOLERANCE, file));
      if (failure === undefined) passed += 1;
      else failures.push(`FAILED ${file.suite} (${backend.name}): ${one.name}\n${failure}`);
    }
  }
  return { passed, failures };
}

/**
 * @param {Case} one
 * @param {Backend} backend
 * @param {Tolerance} tolerance
 * @returns {string | undefined} what went wrong
 */
function runCase(one, backend, tolerance) {
  let operations;
  try {
    operations = backend.create(one.params);
  } catch (error) {
    return `  params ${JSON.stringify(one.params)}\n  threw ${describe(error)}`;
  }
  for (const [i, step] of one.steps.entries()) {
    const failure = runStep(step, operations, within(within(tolerance, one), step));
    if (failure !== undefined) return `  step ${i}: ${describeStep(step)}\n${failure}`;
  }
  return undefined;
}

/**
 * @param {Step} step
 * @param {Operations} operations
 * @param {Tolerance} tolerance
 * @returns {string | undefined}
 */
function runStep(step, operations, tolerance) {
  const operation = operations[step.op];
  if (operation === undefined) throw new UnusableFileError(`has no op '${step.op}'`);
  let outcome;
  try {
    outcome = { result: operation(step) ?? {} };
  } catch (error) {
    outcome = { error };
  }
  const wanted = expectedError(step.expect);
  if ('error' in outcome) {
    if (wanted !== undefined && nameOf(outcome.error) === wanted) return undefined;
    return `  expected ${JSON.stringify(step.expect ?? 'no error')}\n  threw    ${describe(outcome.error)}`;
  }
  if (step.expect === undefined) return undefined;
  const place =
    wanted === undefined ? mismatch(step.expect, outcome.result, tolerance) : 'no error was thrown';
  if (place === undefined) return undefined;
  return `  expected ${JSON.stringify(step.expect)}\n  got      ${JSON.stringify(outcome.result)}\n  at       ${place}`;
}

/**
 * @param {unknown} expect
 * @returns {string | undefined}
 */
function expectedError(expect) {
  if (typeof expect !== 'object' || expect === null || !('error' in expect)) return undefined;
  return typeof expect.error === 'string' ? expect.error : undefined;
}

/**
 * The innermost tolerance wins, each of the two on its own.
 *
 * @param {Tolerance} outer
 * @param {{ readonly tol?: number, readonly absTol?: number }} inner
 * @returns {Tolerance}
 */
function within(outer, inner) {
  return { tol: inner.tol ?? outer.tol, absTol: inner.absTol ?? outer.absTol };
}

/** @param {Step} step */
function describeStep({ expect: _, ...inputs }) {
  return JSON.stringify(inputs);
}

/** @param {unknown} error */
function nameOf(error) {
  return error instanceof Error ? error.name : undefined;
}

/** @param {unknown} error */
function describe(error) {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
