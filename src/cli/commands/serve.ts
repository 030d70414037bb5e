import { readSmallText } from '../../lib/disk/on-disk.ts';
import { defaultDialect, type ServiceDialect } from '../../core/client/dialects.ts';
import { listedFiles } from '../../core/job/job-fields.ts';
import { systemClock } from '../../lib/clock.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { requireAddress } from '../../lib/addresses/address.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { codeOf, ExportError, messageOf } from '../../lib/export-error.ts';
import {
  loadFaults,
  readChangesFile,
  type RunningService,
  type ServiceOptions,
  startService,
} from '../../practice-service.ts';
import type { Command, CommandLine } from '../command.ts';
import { jobFlag, standards } from '../job-flags.ts';
import { bucketFlags, onLocalPaths, scratchFlag } from '../export-place.ts';
import { showError } from '../output/show-error.ts';
import { untilSignal } from '../stop-signals.ts';
import { countOf, givenDialect } from '../flag-values.ts';

const dialectFlag = jobFlag('service.dialect');

/** `serve`: the service on local data, until a signal ends it. */
export const serveCommand: Command = {
  usage: ['serve --assets FILE... [flags]'],
  about:
    'Runs the service locally: answers getAsset and getAssets from local records until SIGINT or SIGTERM. With --dialect it also answers list methods.',
  examples: [
    {
      line: 'serve --assets asset-export-demo',
      about: 'the records of asset-export demo, for any key; use --url http://127.0.0.1:8787',
    },
    {
      line: 'serve --assets day1.jsonl day2.jsonl.zst --store /var/tmp/assets',
      about: 'more records than fit in memory',
    },
    {
      line: 'serve --assets a.jsonl --credits-per-day 3000000 --credits-per-second 500',
      about: 'the limits of a free plan',
    },
    {
      line: 'serve --assets a.jsonl --faults faults.yaml',
      about: 'a faulty service (asset-export help service)',
    },
  ],
  words: { name: 'FILE', about: 'more record files', least: 0, most: Number.POSITIVE_INFINITY },
  groups: [
    {
      title: 'Flags',
      flags: [
        {
          name: 'assets',
          value: 'FILE',
          about:
            'JSONL file with one record per line (also .gz, .zst), or folder or bucket of a finished export; repeatable',
        },
        { name: 'host', value: 'ADDRESS', about: 'address to listen on', standard: '127.0.0.1' },
        { name: 'port', value: 'N', about: 'port to listen on; 0 for any free port', standard: '8787' },
        {
          name: 'api-key-file',
          value: 'FILE',
          about: 'file with the accepted keys, one per line',
          standard: 'any key',
        },
        { name: 'credits-per-day', value: 'N', about: 'credits per key and UTC day', standard: 'no limit' },
        { name: 'credits-per-second', value: 'N', about: 'credits per key and second', standard: 'no limit' },
        { name: 'max-ids', value: 'N', about: 'maximum ids per call', standard: '1000' },
        dialectFlag,
        { name: 'store', value: 'DIR', about: 'keep records and balances on disk, in this folder', standard: 'memory' },
        ...bucketFlags,
        scratchFlag,
        { name: 'faults', value: 'FILE', about: 'YAML file with faults to simulate, for tests' },
        { name: 'changes', value: 'FILE', about: 'YAML file that says how records change from day to day, for tests' },
      ],
    },
  ],
  notes: 'When the service is ready, it prints its address on stdout, and GET /healthz answers "ready".',
  run: async (args) => {
    const options = await optionsOf(args);
    const service = await onLocalPaths(options.assets, args, (assets) => startService({ ...options, assets }));
    // Before the address is out: who reads it may end the service at once.
    const ended = untilSignal(args.terminal);
    args.terminal.stdout.write(`${service.url}\n`);
    const changing = options.changes === undefined ? '' : `, which change by day from ${options.changes.from} on`;
    const { path, header } = options.dialect;
    const place = `${path.replace('{key}', '<key>')}${header === undefined ? '' : ` with ${header.replace('{key}', '<key>')}`}`;
    args.terminal.stderr.write(`serving ${service.assets} assets at ${service.url}${place}${changing}\n`);
    await ended;
    await service.close(Number(standards.graceMs));
    args.terminal.stderr.write(`${accountText(service)}\n`);
    return exitCodes.complete.code;
  },
};

async function optionsOf(args: CommandLine): Promise<ServiceOptions & { readonly dialect: ServiceDialect }> {
  const assets = [
    ...args.texts('assets').flatMap((text) => (isBucketAddress(text) ? [text] : listedFiles(text, '.'))),
    ...args.words,
  ].map((text) => requireAddress(text, 'records', '--assets'));
  if (assets.length === 0) {
    throw new ExportError('usage', '--assets is missing: serve needs a file of records', {
      todo: 'To try: asset-export demo, then asset-export serve --assets asset-export-demo',
    });
  }
  const keyFile = args.text('api-key-file');
  const perDay = countOf(args, 'credits-per-day');
  const perSecond = countOf(args, 'credits-per-second');
  const store = args.text('store');
  const storeDir = store === undefined ? undefined : requireAddress(store, 'local', '--store');
  const faults = args.text('faults');
  const dialect = dialectIn(args);
  const changes = args.text('changes');
  return {
    assets,
    host: args.text('host') ?? '127.0.0.1',
    port: countOf(args, 'port', { most: 65_535 }) ?? 8787,
    maxIds: countOf(args, 'max-ids') ?? dialect.idsPerCall,
    dialect,
    creditsPerCall: dialect.creditsPerCall,
    clock: systemClock,
    onError: (error) => {
      showError(error, false, args.terminal);
    },
    ...(keyFile === undefined ? {} : { apiKeys: keysIn(keyFile) }),
    ...(perDay === undefined ? {} : { creditsPerDay: perDay }),
    ...(perSecond === undefined ? {} : { creditsPerSecond: perSecond }),
    ...(storeDir === undefined ? {} : { storeDir }),
    ...(faults === undefined ? {} : { faults: await loadFaults(faults) }),
    ...(changes === undefined ? {} : { changes: await readChangesFile(changes) }),
  };
}

/** The dialect that is served. @throws {ExportError} `usage` */
function dialectIn(args: CommandLine): ServiceDialect {
  // The list methods are not those of the specification: a stand-in for it must not hide that.
  return givenDialect(args) ?? { ...defaultDialect, list: undefined };
}

function keysIn(path: string): string[] {
  let content: string;
  try {
    content = readSmallText(path);
  } catch (cause) {
    const why = codeOf(cause) === 'ENOENT' ? 'no such file' : messageOf(cause);
    throw new ExportError('usage', `cannot read the key file ${path}: ${why}`, { cause });
  }
  const keys = content.split(/\s+/).filter((key) => key !== '');
  if (keys.length > 0) return keys;
  throw new ExportError('usage', `the key file ${path} is empty`, { todo: 'Put one key on each line.' });
}

function accountText(service: RunningService): string {
  const { calls, ids, records, credits, refused } = service.counts();
  return `answered ${calls} calls for ${ids} ids with ${records} records; ${credits} credits charged, ${refused} calls refused`;
}
