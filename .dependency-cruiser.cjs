/** The rooms of src/ and who may enter which. Every rule says why. */
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });
const room = (...names) => ({ path: `^src/(${names.join('|')})(/|\\.ts$)` });
const anyBut = (...names) => ({ path: '^src/', pathNot: `^src/(${names.join('|')})(/|\\.ts$)` });

module.exports = {
  forbidden: [
    rule('no-circular', 'A cycle has no first file to read.', {}, { circular: true }),
    rule('lib-knows-nothing', 'lib holds no domain words: anyone may use it.', room('lib'), anyBut('lib')),
    rule('assets-is-pure', 'The domain depends on nothing that does I/O.', room('assets'), anyBut('assets', 'lib')),
    rule(
      'service-is-apart',
      'The two ends of the wire are written apart and tested against each other.',
      room('service'),
      anyBut('service', 'assets', 'lib'),
    ),
    rule(
      'inner-rooms',
      'Roles know the domain, and neither the flow nor a terminal: the pipeline joins them.',
      room('client', 'sinks', 'warehouse'),
      room('cli', 'pipeline', 'service', 'main', 'index'),
    ),
    rule(
      'store-is-a-role',
      'The store keeps bytes: it knows neither the flow nor the wire.',
      room('store'),
      room('cli', 'pipeline', 'service', 'client', 'main', 'index'),
    ),
    rule(
      'client-knows-no-sink',
      'How rows are written is no business of the wire.',
      room('client'),
      room('sinks', 'warehouse'),
    ),
    rule(
      'sinks-know-no-wire',
      'Sinks encode; they see neither paths nor calls.',
      room('sinks'),
      room('client', 'store', 'job'),
    ),
    rule('pipeline-below-cli', 'The flow runs without a terminal.', room('pipeline'), room('cli', 'main')),
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
      'databases-in-load',
      'The databases are optional packages: only who loads may ask for them.',
      { path: '^src', pathNot: '^src/load/' },
      { path: 'node_modules/(@duckdb|pg|pg-copy-streams)/' },
    ),
    rule(
      'undici-in-one-place',
      'One file knows the HTTP library.',
      { path: '^src', pathNot: '^src/client/http-client\\.ts$' },
      { path: 'node_modules/undici' },
    ),
    rule(
      'p-queue-in-one-place',
      'One file knows the queue.',
      { path: '^src', pathNot: '^src/client/with-concurrency\\.ts$' },
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
      'fs-where-files-live',
      "Files are touched where they are someone's job; the limits of this process and its sign of life are no files, and two rooms that are apart open lmdb's.",
      {
        path: '^src',
        pathNot:
          '^src/(store|job|service|cli|pipeline/read-ids)(/|\\.ts$)|^src/(client/ledger-file|lib/(aligned-memory|life-socket|lmdb-files))\\.ts$',
      },
      { path: '^(node:)?fs(/promises)?$' },
    ),
    rule(
      'no-dev-dependencies',
      'What ships runs without the tools that test it.',
      { path: '^src' },
      { dependencyTypes: ['npm-dev'] },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
