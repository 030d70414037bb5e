import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['./test/build-program.ts'],
    testTimeout: 60_000,
    pool: 'forks',
    // Left alone, a machine of two cores runs one file at a time; most of them wait for programs that they started.
    maxWorkers: 2,
    reporters: ['default', './test/closing-line-reporter.ts'],
  },
});
