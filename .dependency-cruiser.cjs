/** The rooms of src/ and who may enter which. Every rule says why. */
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });
const room = (...names) => ({ path: `^src/(${names.join('|')})(/|\\.ts$)` });
const anyBut = (...names) => ({ path: '^src/', pathNot: `^src/(${names.join('|')})(/|\\.ts$)` });

/** Development dependencies whose code is in the bundles of `dist`: see docs/decisions/0008-bundles.md. */
const bundled = [
  '@uwdata/flechette',
  'csv-parse',
  'd3-[a-z]+',
  'fastify',
  'fzstd',
  'hyparquet',
  'hyparquet-compressors',
  'log-update',
  'p-queue',
  'pino',
  'prom-client',
  'tinyglobby',
  'undici',
  'yaml',
  'yargs-parser',
].map((name) => `^node_modules/(@types/)?${name}/`);

module.exports = {
  forbidden: [
    rule('no-circular', 'A cycle has no first file to read.', {}, { circular: true }),
    rule('lib-knows-nothing', 'lib holds no domain words: anyone may use it.', room('lib'), anyBut('lib')),
    rule(
      'records-are-pure',
      'The domain depends on nothing that does I/O.',
      room('records'),
      anyBut('records', 'ids', 'lib'),
    ),
    rule(
      'ids-come-first',
      'Ids are read, checked and cut into batches; what is done with them comes later.',
      room('ids'),
      anyBut('ids', 'records', 'job', 'store', 'lib'),
    ),
    rule(
      'work-below-operations',
      'From batches to finished parts: which parts, and what they are for, the operations know.',
      room('work'),
      room('cli', 'operations', 'service', 'load', 'main', 'index'),
    ),
    rule(
      'service-is-apart',
      'The two ends of the wire are written apart and tested against each other. What an export was, the service reads back.',
      room('service'),
      anyBut('service', 'ids', 'records', 'lib', 'finished'),
    ),
    rule(
      'finished-only-reads',
      'Finished exports are read back in one place, which knows neither how they were made nor who reads them.',
      room('finished'),
      anyBut('finished', 'records', 'lib', 'formats', 'store'),
    ),
    rule(
      'formats-of-exports-in-finished',
      'One room knows how each format is read back; ids are read apart.',
      { path: '^src', pathNot: '^src/(finished|formats|ids/read)/' },
      { path: 'node_modules/(csv-parse|hyparquet)' },
    ),
    rule(
      'inner-rooms',
      'Roles know the domain, and neither the flow nor a terminal: work and operations join them.',
      room('client', 'formats', 'warehouse'),
      room('cli', 'operations', 'work', 'service', 'main', 'index'),
    ),
    rule(
      'store-is-a-role',
      'The store keeps bytes: it knows neither the flow nor the wire.',
      room('store'),
      room('cli', 'operations', 'work', 'service', 'client', 'main', 'index'),
    ),
    rule(
      'client-knows-no-rows',
      'What becomes of a record is the business of the reader that a call is given.',
      room('client'),
      { path: '^src/records/(scan/|row-block|columns|table|shape-table|flatten|rebuild|child-tables)' },
    ),
    rule(
      'objects-is-a-role',
      'Object stores put and read bytes under names: they know neither exports nor jobs.',
      room('objects'),
      anyBut('objects', 'lib'),
    ),
    rule(
      'slices-know-objects',
      'The log of a slice stands on the object store alone: it knows neither the flow nor jobs.',
      room('slices'),
      anyBut('slices', 'objects', 'store', 'lib'),
    ),
    rule(
      'buckets-stay-outside',
      'Parts are made on the local disk: where they go afterwards, the homes of exports know.',
      {
        path: '^src/',
        pathNot: '^src/(objects|slices|operations|cli|store/bucket-files\\.ts|work/export-context\\.ts|main|index)',
      },
      room('objects', 'slices'),
    ),
    rule(
      'clouds-in-objects',
      'The clients of object stores are optional packages: one room loads them.',
      { path: '^src', pathNot: '^src/objects/' },
      { path: 'node_modules/(@(aws-sdk|smithy|azure|google-cloud)|google-auth-library)/' },
    ),
    rule(
      'client-knows-no-format',
      'How rows are written is no business of the wire.',
      room('client'),
      room('formats', 'warehouse'),
    ),
    rule(
      'formats-know-no-wire',
      'Sinks encode; they see neither paths nor calls.',
      room('formats'),
      room('client', 'store', 'job'),
    ),
    rule(
      'job-is-settings',
      'A job says what is wanted: formats and the wire bring the values that it may name.',
      room('job'),
      anyBut('job', 'client', 'formats', 'records', 'lib'),
    ),
    rule(
      'base-reads-an-export',
      'A base is a finished export with ages: it knows neither how parts are made nor where they go.',
      room('base'),
      anyBut('base', 'client', 'finished', 'ids', 'job', 'records', 'store', 'lib'),
    ),
    rule(
      'diff-compares-exports',
      'Two finished exports and a database in memory: no ids, no wire and no terminal.',
      room('diff'),
      anyBut('diff', 'finished', 'formats', 'operations', 'warehouse', 'work', 'records', 'store', 'lib'),
    ),
    rule(
      'cli-starts-operations',
      'Commands give operations what they need: how calls are judged, ids chosen and slices held is below.',
      room('cli'),
      { path: '^src/(base|slices|client/judgement)/' },
    ),
    rule('operations-below-cli', 'Operations run without a terminal.', room('operations'), room('cli', 'main')),
    rule(
      'load-joins-roles',
      'Loading joins verify, the store and the statements; it needs neither the wire nor a terminal.',
      room('load'),
      room('cli', 'client', 'service', 'main', 'index'),
    ),
    rule(
      'load-below-cli',
      'A finished export is loaded by command: nothing else depends on a database.',
      { path: '^src', pathNot: '^src/(load|cli)(/|\\.ts$)' },
      room('load'),
    ),
    rule(
      'report-only-reads',
      'A report is made of what an export keeps: it knows neither the wire nor how parts are made.',
      room('report'),
      anyBut('report', 'store', 'records', 'warehouse', 'finished', 'formats', 'lib'),
    ),
    rule(
      'report-is-asked-for',
      'Only a command, or a run at its end, makes a report.',
      { path: '^src', pathNot: '^src/(report|cli|operations)(/|\\.ts$)' },
      room('report'),
    ),
    rule(
      'd3-in-report',
      'Charts are drawn in one room, which nothing else waits for.',
      { path: '^src', pathNot: '^src/report/page/' },
      { path: 'node_modules/d3-' },
    ),
    rule(
      'databases-in-load',
      'The databases are optional packages: only who loads, shares a ledger or counts rows may ask for them.',
      {
        path: '^src',
        pathNot:
          '^src/(load/|lib/load-duckdb\\.ts$|diff/diff-session\\.ts$|report/profile/|client/ledger/postgres-connection\\.ts$)',
      },
      { path: 'node_modules/(@duckdb|pg|pg-copy-streams)/' },
    ),
    rule(
      'queue-hands-out',
      'A queue hands out numbers: what a slice is, and whether it is done, it does not know.',
      room('queue'),
      anyBut('queue', 'lib'),
    ),
    rule(
      'bullmq-in-queue',
      'The queue is an optional package: one file loads it.',
      { path: '^src', pathNot: '^src/queue/bullmq-queue\\.ts$' },
      { path: 'node_modules/bullmq/' },
    ),
    rule(
      'queue-stays-outside',
      'How parts are made knows no queue: who hands out slices, the operations of a fleet and its commands know.',
      { path: '^src/', pathNot: '^src/(queue|operations|cli)(/|\\.ts$)' },
      room('queue'),
    ),
    rule(
      'observe-only-listens',
      'What follows a run hears of it through one interface: it changes nothing, and nothing depends on it but who starts runs.',
      room('observe'),
      anyBut('observe', 'work', 'job', 'client', 'records', 'store', 'lib'),
    ),
    rule(
      'observers-by-interface',
      'The export knows the interface (work/run-observer.ts), never what listens.',
      { path: '^src', pathNot: '^src/(observe|cli)/|^src/index\\.ts$' },
      room('observe'),
    ),
    rule(
      'prom-client-in-observe',
      'Metrics are counted in one room, and loaded for a job that wants them.',
      { path: '^src', pathNot: '^src/observe/' },
      { path: 'node_modules/prom-client/' },
    ),
    rule(
      'undici-in-one-place',
      'One file knows the HTTP library.',
      { path: '^src', pathNot: '^src/client/wire/undici-pool\\.ts$' },
      { path: 'node_modules/undici' },
    ),
    rule(
      'judgement-is-pure',
      'It has no clock, no promise and no wire: events in, decisions out.',
      { path: '^src/client/judgement/' },
      { path: '^src', pathNot: '^src/client/judgement/' },
    ),
    rule(
      'p-queue-in-one-place',
      'One file knows the queue.',
      { path: '^src', pathNot: '^src/client/policies/with-judgement\\.ts$' },
      { path: 'node_modules/p-queue' },
    ),
    rule(
      'yargs-in-cli',
      'Only the command line parses arguments.',
      { path: '^src', pathNot: '^src/(cli/|main\\.ts)' },
      { path: 'node_modules/yargs' },
    ),
    rule(
      'fastify-in-service',
      'Only the service listens.',
      { path: '^src', pathNot: '^src/service/' },
      { path: 'node_modules/fastify' },
    ),
    rule(
      'lmdb-in-service',
      'Only the service keeps records in a database.',
      { path: '^src', pathNot: '^src/service/' },
      { path: 'node_modules/lmdb/' },
    ),
    rule(
      'fs-where-files-live',
      "Files are touched where they are someone's job; what every room with files needs of the system is in lib.",
      {
        path: '^src',
        pathNot:
          '^src/(store|objects|job|observe|service|cli|ids)(/|\\.ts$)|^src/(client/ledger/ledger-file|lib/(free-space|make-folder|optional-packages|package-root|page-memory|process/(exclusively|life-socket|lock-owner)))\\.ts$',
      },
      { path: '^(node:)?fs(/promises)?$' },
    ),
    rule(
      'no-dev-dependencies',
      'What ships runs without the tools that test it.',
      { path: '^src' },
      // Optional peers are development dependencies too: the tests need them.
      {
        dependencyTypes: ['npm-dev'],
        pathNot: [...bundled, '@aws-sdk/client-s3/', '@azure/', '@google-cloud/storage/', 'node_modules/bullmq/'],
      },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
