import { configDefaults, defineConfig } from 'vitest/config';

/** What `npm run test:fast` leaves out: whole exports, crash models, loads, browsers, and files that start a program. */
const slow = [
  'test/{acceptance,bench,browser,cases,contract,data,docs,kernel,model,project}/**',
  'test/wings/{load,nights,observe,repair,report}/**',
  'test/wings/{fleet/queue,warehouse/diff}/**',
  'test/{core/work/threads,core/client/{judgement,ledger},lib/process,service,support/service}/**',
  'test/cli/{command-line,end-program,full-disk-ledger,invalid-ids,node-debug,same-flags,stop-signals}.test.ts',
  'test/cli/commands/**',
  'test/core/client/{create-client,with-service}.test.ts',
  'test/core/client/{policies/money-last-call,wire/{connect-limits,hostile-bodies}}.test.ts',
  'test/core/formats/parquet/parquet.test.ts',
  'test/core/ids/read/{bad-input,look-at-list}.test.ts',
  'test/core/run/{disk-estimate,homes/completed-meanwhile,plan-export,shaped-export}.test.ts',
  'test/exports/{record-text,row-blocks,verify-export}.test.ts',
  'test/lib/ids/checked-id.test.ts',
  'test/places/{files/lock,scratch/part-file}.test.ts',
  'test/core/records/{rebuild-asset,scan/record-rows}.test.ts',
  'test/wings/warehouse/{duckdb,postgres}.test.ts',
];

export default defineConfig(({ mode }) => ({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: mode === 'fast' ? [...configDefaults.exclude, ...slow] : configDefaults.exclude,
    ...(mode === 'fast'
      ? { setupFiles: ['./test/support/start-nothing.ts'] }
      : { globalSetup: ['./test/build-program.ts'] }),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Vitest sets TEST to `true`, whatever it was.
    ...(mode === 'all' ? { env: { TEST: 'all' } } : {}),
    pool: 'forks',
    // Modules are loaded once a worker, not once a file.
    isolate: false,
    // Left alone, a machine of two cores runs one file at a time; most of them wait for programs that they started.
    maxWorkers: 4,
    // `npm test` checks beside the tests.
    reporters: ['default', ['./test/closing-line-reporter.ts', { checks: mode === 'checked' }]],
  },
}));
