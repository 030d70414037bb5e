import { configDefaults, defineConfig } from 'vitest/config';

/** What `npm run test:fast` leaves out: whole exports, crash models, loads, browsers, and files that start many programs. */
const slow = [
  'test/{acceptance,bench,browser,cases,contract,docs,model,project}/**',
  'test/wings/{observe,report}/**',
  'test/wings/warehouse/{diff,load}/**',
  'test/{core/work/threads,core/client/ledger,lib/process,service}/**',
  'test/cli/{command-line,full-disk-ledger,invalid-ids,stop-signals}.test.ts',
  'test/cli/commands/**',
  'test/core/client/{create-client,with-service}.test.ts',
  'test/core/client/wire/hostile-bodies.test.ts',
  'test/core/formats/parquet/parquet.test.ts',
  'test/core/ids/{checked-id,read/bad-input}.test.ts',
  'test/core/run/shaped-export.test.ts',
  'test/exports/verify-export.test.ts',
  'test/lib/scan/csv-counter.test.ts',
  'test/places/{files/lock,scratch/part-file}.test.ts',
  'test/core/records/{rebuild-asset,scan/record-rows}.test.ts',
  'test/wings/{nights/refresh,repair/repair}-export.test.ts',
  'test/wings/warehouse/{duckdb,postgres}.test.ts',
];

export default defineConfig(({ mode }) => ({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: mode === 'fast' ? [...configDefaults.exclude, ...slow] : configDefaults.exclude,
    globalSetup: ['./test/build-program.ts'],
    testTimeout: 60_000,
    // Vitest sets TEST to `true`, whatever it was.
    ...(mode === 'all' ? { env: { TEST: 'all' } } : {}),
    pool: 'forks',
    // Modules are loaded once a worker, not once a file.
    isolate: false,
    // Left alone, a machine of two cores runs one file at a time; most of them wait for programs that they started.
    maxWorkers: 2,
    // `npm test` checks beside the tests.
    reporters: ['default', ['./test/closing-line-reporter.ts', { checks: mode === 'checked' }]],
  },
}));
