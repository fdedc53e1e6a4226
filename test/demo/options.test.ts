import { describe, expect, it } from 'vitest';
import { parseDemoOptions } from '../../demo/options.js';
import { createScenario } from '../../demo/scenario.js';

describe('parseDemoOptions', () => {
  it('has the defaults of the guide', () => {
    expect(parseDemoOptions([])).toEqual({
      seconds: 40,
      threads: 4,
      tables: 40,
      jsonFile: undefined,
      servePort: undefined,
      quiet: false,
      help: false,
    });
  });

  it('reads every option', () => {
    const args = '--seconds 4.5 --threads 2 --tables 9 --json out.json --quiet'.split(' ');
    expect(parseDemoOptions(args)).toMatchObject({
      seconds: 4.5,
      threads: 2,
      tables: 9,
      jsonFile: 'out.json',
      quiet: true,
    });
  });

  it('takes a port for the dashboard, or any', () => {
    expect(parseDemoOptions(['--serve']).servePort).toBe(0);
    expect(parseDemoOptions(['--serve=9090']).servePort).toBe(9090);
    expect(parseDemoOptions(['--serve', '--quiet'])).toMatchObject({ servePort: 0, quiet: true });
  });

  it.each([
    ['--seconds abc', "--seconds must be a number from 4 to 3600, got 'abc'"],
    ['--seconds NaN', "--seconds must be a number from 4 to 3600, got 'NaN'"],
    ['--seconds=-5', "--seconds must be a number from 4 to 3600, got '-5'"],
    ['--seconds Infinity', "--seconds must be a number from 4 to 3600, got 'Infinity'"],
    ['--seconds=', "--seconds must be a number from 4 to 3600, got ''"],
    ['--threads 1.5', "--threads must be an integer from 1 to 32, got '1.5'"],
    ['--threads 0', "--threads must be an integer from 1 to 32, got '0'"],
    ['--tables 3', "--tables must be an integer from 4 to 1000, got '3'"],
    ['--json=', "--json must be the path of a file, got ''"],
    ['--serve=', "--serve must be an integer from 0 to 65535, got ''"],
    ['--serve=x', "--serve must be an integer from 0 to 65535, got 'x'"],
    ['--serve=65536', "--serve must be an integer from 0 to 65535, got '65536'"],
    ['--serve=80.5', "--serve must be an integer from 0 to 65535, got '80.5'"],
    ['--serve 9090', "Unexpected argument '9090'"],
    ['--sedonds 4', "Unknown option '--sedonds'"],
    ['--seconds', "Option '--seconds <value>' argument missing"],
    ['40', "Unexpected argument '40'"],
  ])('refuses %s and says why', (args, message) => {
    expect(() => parseDemoOptions(args.split(' '))).toThrow(message);
  });
});

describe('createScenario', () => {
  const scenario = createScenario(parseDemoOptions([]));
  const total = (phase: number) =>
    scenario.phases[phase]?.ratesPerSecond.reduce((sum, rate) => sum + rate, 0) ?? 0;

  it('splits the time between the runs and floods from a quarter to three quarters', () => {
    expect(scenario).toMatchObject({
      durationMs: 20_000,
      floodFromMs: 5000,
      floodToMs: 15_000,
      intervalMs: 1000,
    });
  });

  it('is calm below the capacity and floods above it, with the same cold load', () => {
    expect(total(0)).toBeLessThan(0.7 * scenario.capacityPerSecond);
    expect(total(1)).toBeGreaterThan(1.3 * scenario.capacityPerSecond);
    expect(total(2)).toBe(total(0));
    expect(scenario.phases[1]?.ratesPerSecond.slice(2)).toEqual(
      scenario.phases[0]?.ratesPerSecond.slice(2),
    );
  });

  it('gives every table an id of its own', () => {
    expect(new Set(scenario.tableIds).size).toBe(40);
  });
});
