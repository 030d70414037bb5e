import { readFileSync } from 'node:fs';
import { listedFiles } from '../job/listed.ts';
import { systemClock } from '../lib/clock.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import { codeOf, ExportError, messageOf } from '../lib/export-error.ts';
import { loadFaults } from '../service/load-faults.ts';
import { type RunningService, type ServiceOptions, startService } from '../service/start-service.ts';
import type { Command, CommandArguments } from './command.ts';
import { showError } from './show-error.ts';

/** `serve`: the service on local data, until SIGINT or SIGTERM. */
export const serveCommand: Command = {
  usage: ['serve --assets FILE... [flags]'],
  about: 'Answers getAsset and getAssets from local records, as the service does, until SIGINT or SIGTERM.',
  examples: [
    { line: 'serve --assets data/assets.jsonl.gz', about: 'any key is taken; run with --url http://127.0.0.1:8787' },
    {
      line: 'serve --assets day1.jsonl day2.jsonl.zst --store /var/tmp/assets',
      about: 'more records than memory holds',
    },
    {
      line: 'serve --assets a.jsonl --credits-per-day 3000000 --credits-per-second 500',
      about: 'the limits of a free plan',
    },
    { line: 'serve --assets a.jsonl --faults faults.yaml', about: 'the service on a bad day: see docs/service.md' },
  ],
  words: { name: 'FILE', about: 'more files of records', least: 0, most: Number.POSITIVE_INFINITY },
  groups: [
    {
      title: 'Flags',
      flags: [
        {
          name: 'assets',
          value: 'FILE',
          about: 'JSONL with a record a line, also .gz and .zst, or the folder of a finished export; several',
        },
        { name: 'host', value: 'ADDRESS', about: 'address to listen on', standard: '127.0.0.1' },
        { name: 'port', value: 'N', about: 'port to listen on; 0 for any free one', standard: '8787' },
        { name: 'api-key-file', value: 'FILE', about: 'the keys to let in, one a line', standard: 'any key' },
        { name: 'credits-per-day', value: 'N', about: 'balance of a key and UTC day', standard: 'no limit' },
        { name: 'credits-per-second', value: 'N', about: 'credits a key may spend a second', standard: 'no limit' },
        { name: 'max-ids', value: 'N', about: 'ids that a call may ask for', standard: '1000' },
        { name: 'store', value: 'DIR', about: 'folder for records and balances on disk', standard: 'memory' },
        { name: 'faults', value: 'FILE', about: 'YAML file of faults to suffer, for tests' },
      ],
    },
  ],
  notes: 'The address is printed on stdout when the service is ready; GET /healthz says so too.',
  run: async (args) => {
    const service = await startService(await optionsOf(args));
    // Before the address is out: who reads it may end the service at once.
    const ended = endOfSignal();
    process.stdout.write(`${service.url}\n`);
    process.stderr.write(`serving ${service.assets} assets at ${service.url}/v3/<key>\n`);
    await ended;
    await service.close();
    process.stderr.write(`${accountText(service)}\n`);
    return exitCodes.complete.code;
  },
};

async function optionsOf(args: CommandArguments): Promise<ServiceOptions> {
  const assets = [...args.texts('assets').flatMap((text) => listedFiles(text, '.')), ...args.words];
  if (assets.length === 0) {
    throw new ExportError('usage', 'serve needs --assets FILE: the records to answer from', {
      todo: 'To try: asset-export serve --assets data/assets.jsonl.gz',
    });
  }
  const keyFile = args.text('api-key-file');
  const perDay = args.text('credits-per-day');
  const perSecond = args.text('credits-per-second');
  const storeDir = args.text('store');
  const faults = args.text('faults');
  return {
    assets,
    host: args.text('host') ?? '127.0.0.1',
    port: count('port', args.text('port') ?? '8787'),
    maxIds: count('max-ids', args.text('max-ids') ?? '1000'),
    clock: systemClock,
    onError: (error) => {
      showError(error, false);
    },
    ...(keyFile === undefined ? {} : { apiKeys: keysIn(keyFile) }),
    ...(perDay === undefined ? {} : { creditsPerDay: count('credits-per-day', perDay) }),
    ...(perSecond === undefined ? {} : { creditsPerSecond: count('credits-per-second', perSecond) }),
    ...(storeDir === undefined ? {} : { storeDir }),
    ...(faults === undefined ? {} : { faults: await loadFaults(faults) }),
  };
}

function count(flag: string, value: string): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && Number.isSafeInteger(number) && (flag !== 'port' || number < 65_536)) return number;
  throw new ExportError('usage', `--${flag} is "${value}", which is not a whole number in range`);
}

function keysIn(path: string): string[] {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (cause) {
    const why = codeOf(cause) === 'ENOENT' ? 'no such file' : messageOf(cause);
    throw new ExportError('usage', `cannot read the key file ${path}: ${why}`, { cause });
  }
  const keys = content.split(/\s+/).filter((key) => key !== '');
  if (keys.length > 0) return keys;
  throw new ExportError('usage', `the key file ${path} is empty`, { todo: 'put one key on each line' });
}

/** Resolves at the first SIGINT or SIGTERM: the one way in which this command ends. */
function endOfSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const)
      process.once(name, () => {
        resolve();
      });
  });
}

function accountText(service: RunningService): string {
  const { calls, ids, records, credits, refused } = service.counts();
  return `answered ${calls} calls for ${ids} ids with ${records} records; ${credits} credits charged, ${refused} calls refused`;
}
