import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/workers/config/config-file.js';
import { OPTIONS, type OptionSpec, RPC_OPTIONS } from '../../src/workers/config/option-table.js';

const text = readFileSync(new URL('../../docs/reference/options.md', import.meta.url), 'utf8');
const rows = [...text.matchAll(/^\| `([\w.]+)` \|(.*)\|$/gm)].map(([, name, rest]) => [
  name,
  ...(rest ?? '').split(' | ').map((cell) => cell.trim().replaceAll('`', '')),
]);

function row(spec: OptionSpec, name: string, seed: string): unknown[] {
  const shown =
    typeof spec.fallback === 'string' ? `'${spec.fallback}'` : JSON.stringify(spec.fallback);
  return [name, seed, shown, spec.rule, spec.immutable ? 'no' : 'yes'];
}

describe('docs/reference/options.md', () => {
  it('has a line for every option with its name in Doris, default, rule and mutability, and no other', () => {
    expect(rows).toEqual([
      ...OPTIONS.map((spec) => row(spec, spec.path, spec.seed?.name ?? '')),
      ...RPC_OPTIONS.map((spec) => {
        const seed = spec.path === 'qpsPerCore' ? 'ms_rpc_qps_NAME' : '';
        return row(spec, `host.rpcs.NAME.${spec.path}`, seed);
      }),
    ]);
  });

  it('shows a file that can be read', () => {
    const [, file = ''] = /```\n(# be\.conf\n[\s\S]*?)```/.exec(text) ?? [];
    expect(parseConfig(file, 'be.conf').values).toEqual({
      host: { qpsPerCore: 50, rpcs: { commit_rowset: { burst: 200 } } },
      tables: { enabled: true, rpcs: ['commit_rowset', 'prepare_rowset'] },
    });
  });
});
