import { defineConfig } from 'vitest/config';

// Two projects: files of one process each, several at a time; and files that run real worker threads
// on the built package, one at a time, because they measure contention and have both cores to share.
//
// With the twin in the place of the kernel, what is far from both of them is not run a second time: stores and their
// files, and who reads the state over HTTP.
const farFromTheKernel =
  process.env['SPILLWAY_KERNEL'] === 'twin'
    ? [
        'test/actors/kv/**',
        'test/adapters/dashboard/**',
        'test/adapters/rocksdb.test.ts',
        'test/cli/**',
        'test/demo/**',
        'test/docs/{admin,dashboard,storage}-guide.threads.test.ts',
        'test/house/**',
        'test/observability/**',
        'test/threads/{admin,engine,kv,log}-*.threads.test.ts',
      ]
    : [];

export default defineConfig({
  test: {
    retry: 0,
    passWithNoTests: false,
    reporters: process.env['CI'] === undefined ? ['default'] : ['dot'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.threads.test.ts', ...farFromTheKernel],
          pool: 'forks',
          maxWorkers: 2,
          testTimeout: 15_000,
          hookTimeout: 15_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'threads',
          include: ['test/**/*.threads.test.ts'],
          exclude: farFromTheKernel,
          pool: 'forks',
          maxWorkers: 1,
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
