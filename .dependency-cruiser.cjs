/** The rooms of src/ and who may enter which. Every rule says why. */
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });
const room = (...names) => ({ path: `^src/(${names.join('|')})(/|\\.ts$)` });
const anyBut = (...names) => ({ path: '^src/', pathNot: `^src/(${names.join('|')})(/|\\.ts$)` });

/** Development dependencies whose code is in the bundles of `dist`: see docs/decisions/0008-bundles.md. */
const bundled = [
  '@noble/hashes',
  '@uwdata/flechette',
  'csv-parse',
  'd3-[a-z]+',
  'fzstd',
  'hyparquet',
  'hyparquet-compressors',
  'log-update',
  'p-queue',
  'pino',
  'prom-client',
  'tinyglobby',
  'undici',
  'xxhash-wasm',
  'yaml',
  'yargs-parser',
].map((name) => `^node_modules/(@types/)?${name}/`);

module.exports = {
  forbidden: [
    rule('no-circular', 'A cycle has no first file to read.', {}, { circular: true }),
    rule('lib-knows-nothing', 'lib holds no domain words: anyone may use it.', room('lib'), anyBut('lib')),
    rule(
      'places-keep-bytes',
      'Where exports live: a place knows neither the flow nor the wire, only the records that it keeps.',
      room('places'),
      { path: '^src/', pathNot: '^src/(places|lib|core/records|core/formats/sink\\.ts)(/|$)' },
    ),
    rule(
      'exports-only-read',
      'Finished exports are read back in one place, which knows neither how they were made nor who reads them.',
      room('exports'),
      anyBut('exports', 'lib', 'places', 'core/records', 'core/formats'),
    ),
    rule(
      'core-knows-no-wing',
      'The way of an id needs no wing, no terminal and no service.',
      room('core'),
      anyBut('core', 'lib', 'places', 'exports'),
    ),
    rule(
      'wings-stand-apart',
      'A wing stands on the core, on places and on finished exports; no command and no other wing. A repair also enters nights, and a load the warehouse, by the door.',
      { path: '^src/wings/([^/]+)/' },
      {
        path: '^src/',
        pathNot: ['^src/(wings/$1|lib|core|places|exports)/', '^src/wings/(nights|warehouse)/index\\.ts$'],
      },
    ),
    rule(
      'nights-for-repair',
      'Only a repair takes rows from the base of an export as a run does.',
      { path: '^src/wings/', pathNot: '^src/wings/(nights|repair)/' },
      room('wings/nights'),
    ),
    rule(
      'warehouse-for-load',
      'Of the wings only a load enters the warehouse.',
      { path: '^src/wings/', pathNot: '^src/wings/(warehouse|load)/' },
      room('wings/warehouse'),
    ),
    rule(
      'wings-have-doors',
      'Each wing is entered by its index.ts.',
      { path: '^src/', pathNot: '^src/wings/' },
      { path: '^src/wings/', pathNot: '^src/wings/[^/]+/index\\.ts$' },
    ),
    rule(
      'wings-are-asked-for',
      'Commands, the library and what it shares with them enter wings.',
      { path: '^src/', pathNot: '^src/(cli|wings|index|library|world)(/|\\.ts$)' },
      { path: '^src/wings/' },
    ),
    rule(
      'world-below-programs',
      'The service, the ledger and the wings of a run are found in one way by the command line and by programs.',
      room('world', 'library'),
      room('cli', 'main'),
    ),
    rule(
      'records-are-pure',
      'The domain depends on nothing that does I/O.',
      room('core/records'),
      anyBut('core/records', 'core/ids', 'lib'),
    ),
    rule(
      'ids-come-first',
      'Ids are read, checked and cut into batches; what is done with them comes later.',
      room('core/ids'),
      anyBut('core/ids', 'core/records', 'core/job', 'places', 'lib'),
    ),
    rule(
      'work-below-run',
      'From batches to finished parts: which parts, and what they are for, a run knows. Its record has no flow.',
      room('core/work'),
      { path: '^src/core/run/', pathNot: '^src/core/run/history/' },
    ),
    rule(
      'service-is-apart',
      'The two ends of the wire are written apart and tested against each other. The service stands on lib alone.',
      { path: '^packages/practice-service/' },
      { path: '^(src|packages)/', pathNot: '^(src/lib|packages/practice-service)/' },
    ),
    rule(
      'service-needs-three-packages',
      'The service reads YAML, checks it, and hashes as chains do; sockets and files are those of Node.',
      { path: '^packages/practice-service/' },
      { path: 'node_modules/', pathNot: 'node_modules/(yaml|zod|@noble/hashes)/' },
    ),
    rule(
      'one-door-to-the-service',
      'One file loads the practice service, hands in what it does not know, and has types of its own: those of a workspace have no place in the library.',
      { path: '^src/', pathNot: '^src/practice-service\\.ts$' },
      { path: '^packages/' },
    ),
    rule(
      'formats-of-exports-in-exports',
      'One room knows how each format is read back; ids are read apart.',
      { path: '^src', pathNot: '^src/(exports|core/formats|core/ids/read)/' },
      { path: 'node_modules/(csv-parse|hyparquet)' },
    ),
    rule(
      'inner-rooms',
      'Roles know the domain, and neither the flow nor a terminal: work and run join them.',
      room('core/client', 'core/formats'),
      room('core/run', 'core/work'),
    ),
    rule(
      'client-knows-no-rows',
      'What becomes of a record is the business of the reader that a call is given.',
      room('core/client'),
      { path: '^src/core/records/(scan/|row-block|columns|table|shape-table|flatten|rebuild)' },
    ),
    rule(
      'objects-is-a-role',
      'Object stores put and read bytes under names: they know neither exports nor jobs.',
      room('places/objects'),
      anyBut('places/objects', 'lib'),
    ),
    rule(
      'buckets-stay-outside',
      'Parts are made on the local disk: where they go afterwards, the homes of exports know.',
      {
        path: '^src/',
        pathNot: '^src/(places|core/run|wings|cli|main|library)',
      },
      room('places/objects', 'places/log'),
    ),
    rule(
      'clouds-in-objects',
      'The clients of object stores are optional packages: one room loads them.',
      { path: '^src', pathNot: '^src/places/objects/' },
      { path: 'node_modules/(@(aws-sdk|smithy|azure|google-cloud)|google-auth-library)/' },
    ),
    rule(
      'client-knows-no-format',
      'How rows are written is no business of the wire.',
      room('core/client'),
      room('core/formats'),
    ),
    rule(
      'formats-know-no-wire',
      'Sinks encode; they see neither paths nor calls.',
      room('core/formats'),
      room('core/client', 'places', 'core/job'),
    ),
    rule(
      'job-is-settings',
      'A job says what is wanted: formats and the wire bring the values that it may name.',
      room('core/job'),
      anyBut('core/job', 'core/client', 'core/formats', 'core/records', 'lib'),
    ),
    rule(
      'base-reads-an-export',
      'A base is a finished export with ages: it knows neither how parts are made nor where they go.',
      room('wings/nights/base'),
      room('core/run', 'core/formats', 'places/objects', 'places/log'),
    ),
    rule(
      'wires-in-core',
      'Commands give runs what they need: how calls are judged and slices are held is below.',
      room('cli'),
      { path: '^src/(places/log|core/client/judgement)/' },
    ),
    rule(
      'load-needs-no-wire',
      'Loading joins verify, the store and the statements.',
      room('wings/warehouse', 'wings/load'),
      room('core/client', 'core/ids'),
    ),
    rule('status-reads-records', 'Status tells what log and record say: it makes no call.', room('wings/status'), {
      path: '^src/core/(client/wire|formats)/',
    }),
    rule(
      'report-only-reads',
      'A report is made of what an export keeps: it knows neither the wire nor how parts are made.',
      room('wings/report'),
      room('core/client', 'core/ids'),
    ),
    rule(
      'd3-in-report',
      'Charts are drawn in one room, which nothing else waits for.',
      { path: '^src', pathNot: '^src/wings/report/page/' },
      { path: 'node_modules/d3-' },
    ),
    rule(
      'databases-in-wings',
      'The databases are optional packages: only who loads, shares a ledger or counts rows may ask for them.',
      {
        path: '^src',
        pathNot:
          '^src/(lib/packages/optional-packages\\.ts$|wings/(load/|warehouse/diff/diff-session\\.ts$|report/profile/|repair/rebuild/sorted-records\\.ts$|fleet/ledger/postgres-connection\\.ts$))',
      },
      { path: 'node_modules/(@duckdb|pg|pg-copy-streams)/' },
    ),
    rule(
      'queue-hands-out',
      'A queue hands out numbers: what a slice is, and whether it is done, it does not know.',
      room('wings/fleet/queue'),
      anyBut('wings/fleet/queue', 'lib'),
    ),
    rule(
      'bullmq-in-queue',
      'The queue is an optional package: one file loads it.',
      { path: '^src', pathNot: '^src/wings/fleet/queue/bullmq-queue\\.ts$' },
      { path: 'node_modules/bullmq/' },
    ),
    rule(
      'repair-asks-nobody-else',
      'What is restored comes from files of exports or is requested by an ordinary run.',
      room('wings/repair'),
      { path: '^src/core/client/(wire|judgement)/' },
    ),
    rule(
      'observe-only-listens',
      'What follows a run hears of it through one interface: it changes nothing.',
      room('wings/observe'),
      anyBut(
        'wings/observe',
        'core/work',
        'core/job',
        'core/client',
        'core/records',
        'places',
        'core/run/history',
        'lib',
      ),
    ),
    rule(
      'prom-client-in-observe',
      'Metrics are counted in one room, and loaded for a job that wants them.',
      { path: '^src', pathNot: '^src/wings/observe/' },
      { path: 'node_modules/prom-client/' },
    ),
    rule(
      'undici-in-one-place',
      'One file knows the HTTP library.',
      { path: '^src', pathNot: '^src/core/client/wire/connections\\.ts$' },
      { path: 'node_modules/undici' },
    ),
    rule(
      'judgement-is-pure',
      'It has no clock, no promise and no wire: events in, decisions out.',
      { path: '^src/core/client/judgement/' },
      { path: '^src', pathNot: '^src/core/client/judgement/' },
    ),
    rule(
      'p-queue-in-one-place',
      'One file knows the queue.',
      { path: '^src', pathNot: '^src/core/client/policies/slots\\.ts$' },
      { path: 'node_modules/p-queue' },
    ),
    rule(
      'yargs-in-cli',
      'Only the command line parses arguments.',
      { path: '^src', pathNot: '^src/(cli/|main\\.ts)' },
      { path: 'node_modules/yargs' },
    ),
    rule(
      'fs-where-files-live',
      "Files are touched where they are someone's job; what every room with files needs of the system is in lib.",
      {
        path: '^src',
        pathNot:
          '^src/(places|core/job|core/ids|wings/observe|world|cli)(/|\\.ts$)|^src/(core/client/ledger/ledger-file|lib/(disk/(counter-file|on-disk)|kernel/kernel|packages/(optional-packages|package-root)|buffer-pool|process/lock-owner))\\.ts$',
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
