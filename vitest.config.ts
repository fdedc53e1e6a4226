import { defineConfig } from 'vitest/config';

// Two projects: files of one process each, several at a time; and files that run real worker threads
// on the built package, one at a time, because they measure contention and have both cores to share.
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
          exclude: ['test/**/*.threads.test.ts'],
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
