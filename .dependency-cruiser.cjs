// The direction of imports (docs: CONTRIBUTING.md): adapters, workers, testing -> actors -> shared,
// never back, no cycles. Type-only imports count.
const reaches = (name, from, to, comment) => ({
  name,
  comment,
  severity: 'error',
  from,
  to,
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    reaches('no-cycles', {}, { circular: true }, 'No import cycles, types included.'),
    reaches(
      'shared-knows-nobody',
      { path: '^src/shared/' },
      { pathNot: '^src/shared/' },
      'shared imports only shared: no node:*, no packages, no other layer.',
    ),
    reaches(
      'actors-know-shared-only',
      { path: '^src/actors/' },
      { pathNot: '^src/(actors|shared)/' },
      'actors import actors and shared: no node:*, no threads, no packages.',
    ),
    reaches(
      'testing-knows-actors-and-shared',
      { path: '^src/testing/' },
      { path: '^src/', pathNot: '^src/(testing|actors|shared)/' },
      'The behaviour kit must not pull in threads.',
    ),
    reaches(
      'workers-stay-below-adapters',
      { path: '^src/workers/' },
      { path: '^src/', pathNot: '^src/(workers|actors|shared)/' },
      'workers import workers, actors and shared.',
    ),
    reaches(
      'adapters-stay-apart',
      { path: '^src/adapters/' },
      { path: '^src/(testing/|index\\.)' },
      'An adapter imports what it needs, not the public index.',
    ),
    reaches(
      'nobody-imports-the-index',
      { path: '^src/' },
      { path: '^src/(index|testing/index)\\.ts$' },
      'The index files are for users; inside, import the concept.',
    ),
    reaches(
      'src-ends-at-src',
      { path: '^src/' },
      { path: '^(test|bench|demo|conformance|scripts)/' },
      'Shipped code imports shipped code.',
    ),
    reaches(
      'nobody-imports-the-command',
      { path: '^src/', pathNot: '^src/cli/' },
      { path: '^src/cli/' },
      'The command is the top layer.',
    ),
    reaches(
      'sql-engine-only-in-the-command',
      { path: '^src/', pathNot: '^src/cli/' },
      { path: 'node_modules/@electric-sql/' },
      'Only the command loads a SQL engine.',
    ),
    reaches(
      'peers-only-in-adapters',
      { path: '^src/', pathNot: '^src/adapters/' },
      {
        path: 'node_modules/(@grpc/|@opentelemetry/|fastify/|prom-client/|rocksdb-native/|undici/)',
      },
      'Optional peers belong to their adapter.',
    ),
    reaches(
      'nothing-undeclared',
      { path: '^src/' },
      {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        // Optional peers are installed here for the tests.
        dependencyTypesNot: ['npm-peer'],
        pathNot: 'node_modules/@types/',
      },
      'Shipped code imports only declared dependencies.',
    ),
    reaches('nothing-unresolved', {}, { couldNotResolve: true }, 'Every import must resolve.'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^src/shared/kernel/assembly/' },
    tsPreCompilationDeps: true,
    detectProcessBuiltinModuleCalls: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
};
