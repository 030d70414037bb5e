import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['./test/build-program.ts'],
    testTimeout: 60_000,
    pool: 'forks',
    reporters: ['default', './test/closing-line-reporter.ts'],
  },
});
