import { configDefaults, defineConfig } from 'vitest/config';

/** What `npm run test:fast` leaves out: whole exports, crash models, loads, browsers, and files that start many programs. */
const slow = [
  'test/{acceptance,bench,browser,cases,contract,diff,docs,load,model,observe,project,report}/**',
  'test/{work/threads,client/ledger,lib/process,service}/**',
  'test/cli/{command-line,full-disk-ledger,invalid-ids,stop-signals}.test.ts',
  'test/cli/commands/**',
  'test/client/{create-client,with-service}.test.ts',
  'test/client/wire/hostile-bodies.test.ts',
  'test/formats/parquet/parquet.test.ts',
  'test/ids/{checked-id,read/bad-input}.test.ts',
  'test/lib/scan/csv-counter.test.ts',
  'test/operations/{refresh,repair,shaped,verify}-export.test.ts',
  'test/records/{rebuild-asset,scan/record-rows}.test.ts',
  'test/store/{lock,part-file}.test.ts',
  'test/warehouse/{duckdb,postgres}.test.ts',
];

export default defineConfig(({ mode }) => ({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: mode === 'fast' ? [...configDefaults.exclude, ...slow] : configDefaults.exclude,
    testTimeout: 60_000,
    // Vitest sets TEST to `true`, whatever it was.
    ...(mode === 'all' ? { env: { TEST: 'all' } } : {}),
    pool: 'forks',
    // Modules are loaded once a worker, not once a file.
    isolate: false,
    // Left alone, a machine of two cores runs one file at a time; most of them wait for programs that they started.
    maxWorkers: 2,
    reporters: ['default', './test/closing-line-reporter.ts'],
  },
}));
