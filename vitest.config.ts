import { configDefaults, defineConfig } from 'vitest/config';
import { inlinedConstants } from './test/support/inlined-constants.ts';

/** What each mode leaves out, by the lane that a file's name tells (`test/support/lane.ts`). */
const otherLanes: Readonly<Record<string, readonly string[]>> = {
  fast: ['**/*.{whole,nightly}.test.ts'],
  all: [],
};

/**
 * The next file runs other code: to optimize a function pays later than V8 assumes. With this instead of 66 KB of bytecode, files
 * take 9 % less CPU. Later majors of Node.js count calls and refuse the flag.
 */
const optimizeLater = process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : [];

export default defineConfig(({ mode }) => ({
  plugins: [inlinedConstants()],
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(otherLanes[mode] ?? ['**/*.nightly.test.ts'])],
    setupFiles: ['./test/support/hold-lane.ts'],
    globalSetup: ['./test/support/memory-folder.ts', ...(mode === 'fast' ? [] : ['./test/build-program.ts'])],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Vitest sets TEST to `true`, whatever it was.
    ...(mode === 'all' ? { env: { TEST: 'all' } } : {}),
    pool: 'forks',
    // The loaded modules take 50 MB: a heap that starts larger is collected half as often.
    execArgv: ['--initial-old-space-size=1024', '--min-semi-space-size=16', ...optimizeLater],
    // Modules are loaded once a worker, not once a file.
    isolate: false,
    // Left alone, a machine of two cores runs one file at a time; most of them wait for programs that they started. A fourth worker
    // takes 4 % more CPU there and ends no earlier.
    maxWorkers: 3,
    // `npm test` checks beside the tests.
    reporters: ['default', ['./test/closing-line-reporter.ts', { checks: mode === 'checked' }]],
  },
}));
