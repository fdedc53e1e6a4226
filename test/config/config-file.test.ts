import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/shared/errors.js';
import { applyPatch } from '../../src/workers/config/apply-patch.js';
import { parseConfig, readConfigFile } from '../../src/workers/config/config-file.js';
import { reloadConfig, resolveConfig } from '../../src/workers/config/resolve-config.js';

const CORES = 2;

function refusal(text: string, path = 'be.conf'): ConfigError {
  try {
    parseConfig(text, path);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('name = value lines', () => {
  it('reads both spellings, comments, blanks and any line end', () => {
    const text = [
      '\uFEFF# the metadata service',
      'ms_rpc_qps_default = 50   # per core',
      '',
      '  tables.enabled=true\r\n\thost.dryRun = false',
      'host.rpcs.a.b.burst = 12',
      'host.rpcs.a.b.clock = coarse',
      'ms_rpc_qps_a.b = 2.5e1',
      'tables.rpcs = a.b, write',
      'backendId = 9007199254740993',
    ].join('\n');
    expect(parseConfig(text, 'be.conf').values).toEqual({
      backendId: 9007199254740993n,
      host: {
        qpsPerCore: 50,
        dryRun: false,
        rpcs: { 'a.b': { burst: 12, clock: 'coarse', qpsPerCore: 25 } },
      },
      tables: { enabled: true, rpcs: ['a.b', 'write'] },
    });
  });

  it('reads an empty list and an empty file', () => {
    expect(parseConfig('tables.rpcs =', 'be.conf').values).toEqual({ tables: { rpcs: [] } });
    expect(parseConfig('', 'be.conf').values).toEqual({});
  });

  it.each([
    '0x10',
    '1_000',
    '+5',
    '5ms',
    '.5',
    '5.',
    'NaN',
    'Infinity',
    '',
    "'5'",
    '1e309',
    '-0',
    '1 000',
  ])('does not take %j for a number', (text) => {
    const error = refusal(`# first\nms_rpc_qps_default = ${text}`);
    expect(error.field).toBe('ms_rpc_qps_default');
    expect(error.message.startsWith('be.conf:2: ms_rpc_qps_default must be > 0, got ')).toBe(true);
  });

  it.each(['True', 'yes', '1', 'on', ''])('does not take %j for a boolean', (text) => {
    expect(refusal(`tables.enabled = ${text}`).message).toBe(
      `be.conf:1: tables.enabled must be true or false, got '${text}'`,
    );
  });

  it.each([
    ['nope = 1', 'nope', 1],
    ['\n\nhost.rpcs.read.qps = 1', 'host.rpcs.read.qps', 3],
    ['\nhost.rpcs..burst = 1', 'host.rpcs..burst', 2],
    ['tables.rpcs = a,\n', 'tables.rpcs[1]', 1],
    ['a = 1 = 2', 'a', 1],
    ['\n\n\njust words', 'line', 4],
    ['= 5', 'line', 1],
    ['ms_rpc_qps_default = 1\nms_rpc_qps_default = 1', 'ms_rpc_qps_default', 2],
    ['host.qpsPerCore = 1\nms_rpc_qps_default = 2', 'ms_rpc_qps_default', 2],
    ['__proto__ = 1', '__proto__', 1],
    ['host.rpcs.__proto__.burst = 1', 'host.rpcs', undefined],
    ['configFile = other.conf', 'configFile', 1],
  ])('%j is refused with its line', (text, field, line) => {
    const error = refusal(text);
    expect(error.field).toBe(field);
    expect(error.message.startsWith(line === undefined ? 'be.conf: ' : `be.conf:${line}: `)).toBe(
      true,
    );
  });
});

describe('JSON', () => {
  it('reads both spellings', () => {
    const text = '{"ms_rpc_qps_default": 5, "tables": {"rpcs": ["a\\"\\n{"], "ratio": 0.5}}';
    expect(refusal(text, 'be.json').field).toBe('tables.rpcs[0]');
    expect(parseConfig(text.replace('\\"\\n{', ''), 'be.json').values).toEqual({
      host: { qpsPerCore: 5 },
      tables: { rpcs: ['a'], ratio: 0.5 },
    });
  });

  it.each([
    ['{\n "tables": {\n  "ratio": 1e309\n }\n}', 'tables.ratio', 3],
    ['{"host": {"rpcs": {\n"read": {},\n"write": {"burst": 0}}}}', 'host.rpcs.write.burst', 3],
    ['{\n"tables": {"rpcs": [\n"a",\n"b c"]}}', 'tables.rpcs[1]', 4],
    ['{"host": {"enabled": true,\n"enabled": true}}', 'host.enabled', 2],
    ['{\n"ms_rpc_qps_default": "5"}', 'ms_rpc_qps_default', 2],
    ['{\n"nope": null}', 'nope', 2],
    ['{\n"host": {},\n}', 'file', 3],
  ])('%j is refused with its line', (text, field, line) => {
    const error = refusal(text, 'be.json');
    expect(error.field).toBe(field);
    expect(error.message.startsWith(`be.json:${line}: ${field} `)).toBe(true);
  });

  it('must be an object', () => {
    expect(refusal('[]', 'be.json').message).toBe('be.json: file must be an object, got an array');
    expect(refusal('5', 'be.json').message).toBe('be.json: file must be an object, got 5');
  });
});

describe('the file of a runtime', () => {
  let dir = '';
  let path = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'spillway-config-'));
    path = join(dir, 'be.conf');
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const write = (text: string) => writeFileSync(path, text);

  it('gives values that code does not give', () => {
    write('ms_rpc_qps_default = 5\ntables.ratio = 0.9\nms_rpc_qps_read = 7');
    const config = resolveConfig(
      { configFile: path, tables: { ratio: 0.5 }, host: { rpcs: { read: { burst: 3 } } } },
      CORES,
    );
    expect(config.configFile).toBe(path);
    expect(config.host.qpsPerCore).toBe(5);
    expect(config.tables.ratio).toBe(0.5);
    expect(config.host.rpcs['read']).toEqual({ qpsPerCore: 7, burst: 3, clock: 'precise' });
  });

  it('is named, with the line, when only the whole shows what is wrong', () => {
    write('\nms_rpc_qps_default = 9000000');
    expect(() => resolveConfig({ configFile: path }, CORES)).toThrow(
      `${path}:2: ms_rpc_qps_default times 2 cores`,
    );
  });

  it('must exist', () => {
    expect(() => readConfigFile(path)).toThrow(
      expect.objectContaining({ field: 'configFile', cause: expect.any(Error) }),
    );
  });

  it('is read again by a reload, which undoes changes and forgets no RPC type', () => {
    write('ms_rpc_qps_default = 5\nms_rpc_qps_old = 1');
    const options = { configFile: path };
    const first = resolveConfig(options, CORES);
    const changed = applyPatch(first, { tables: { topK: 9 }, host: { rpcs: { late: {} } } }, CORES);
    write('ms_rpc_qps_default = 6\nms_rpc_qps_new = 1\nms_rpc_table_qps_window_sec = 3');
    const reloaded = reloadConfig(changed, options, CORES);
    expect(reloaded.host.qpsPerCore).toBe(6);
    expect(reloaded.tables.topK).toBe(2);
    expect(Object.keys(reloaded.host.rpcs)).toEqual(['old', 'late', 'new']);
    expect(reloaded.host.rpcs['old']?.qpsPerCore).toBe(-1);
  });

  it('cannot change what is fixed', () => {
    write('');
    const options = { configFile: path };
    const first = resolveConfig(options, CORES);
    write('# new\nms_rpc_table_qps_window_sec = 5');
    expect(() => reloadConfig(first, options, CORES)).toThrow(
      `${path}:2: ms_rpc_table_qps_window_sec cannot change at run time (tables.windowMs is 3000), got 5`,
    );
  });
});
