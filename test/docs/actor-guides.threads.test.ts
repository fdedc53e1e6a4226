import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Example {
  readonly name: string;
  readonly program: string;
  readonly printed: string;
}

const examples = ['actors', 'testing'].flatMap((guide): Example[] => {
  const text = readFileSync(`${ROOT}docs/guide/${guide}.md`, 'utf8');
  const blocks = text.matchAll(/```ts\n(import [\s\S]*?)```\n\nIt prints:\n\n```\n([\s\S]*?)```/g);
  return [...blocks].map(([, program = '', printed = ''], i) => ({
    name: `docs/guide/${guide}.md, example ${i + 1}`,
    program,
    printed,
  }));
});

const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ['node'],
  skipLibCheck: true,
};

interface Compiled {
  readonly problems: readonly string[];
  readonly script: string;
}

/** Compiles the programs as a user's own files beside the built package. */
function compile(programs: readonly string[]): Compiled[] {
  const texts = new Map(programs.map((text, i) => [`${ROOT}docs/guide/example-${i}.mts`, text]));
  const scripts = new Map<string, string>();
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => texts.has(name) || fileExists(name);
  host.readFile = (name) => texts.get(name) ?? readFile(name);
  host.getSourceFile = (name, version, ...rest) => {
    const text = texts.get(name);
    return text === undefined
      ? getSourceFile.call(host, name, version, ...rest)
      : ts.createSourceFile(name, text, version, true);
  };
  host.writeFile = (name, text) => scripts.set(name, text);
  const compiled = ts.createProgram([...texts.keys()], options, host);
  const everywhere = [...compiled.getOptionsDiagnostics(), ...compiled.getGlobalDiagnostics()];
  compiled.emit();
  return [...texts.keys()].map((name) => {
    const source = compiled.getSourceFile(name);
    const problems = [
      ...everywhere,
      ...compiled.getSyntacticDiagnostics(source),
      ...compiled.getSemanticDiagnostics(source),
    ];
    return {
      problems: problems.map(({ messageText }) =>
        ts.flattenDiagnosticMessageText(messageText, '\n'),
      ),
      script: scripts.get(name.replace(/mts$/, 'mjs')) ?? '',
    };
  });
}

let compiled: Compiled[];

beforeAll(() => {
  compiled = compile(examples.map(({ program }) => program));
});

it('the guides have the examples that they announce', () => {
  expect(examples).toHaveLength(4);
});

it.each(examples.map((example, i) => ({ ...example, i })))(
  '$name compiles and prints what it says',
  async ({ i, printed }) => {
    const { problems, script } = compiled[i] as Compiled;
    expect(problems).toEqual([]);
    const run = promisify(execFile)(
      process.execPath,
      ['--unhandled-rejections=strict', '--input-type=module', '--eval', script],
      { cwd: ROOT, timeout: 20_000 },
    );
    expect(await run).toEqual({ stdout: printed, stderr: '' });
  },
);
