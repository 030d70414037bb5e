import { readFileSync } from 'node:fs';
import type { CommandModule } from 'yargs';
import { systemClock } from '../lib/clock.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import { codeOf, ExportError, messageOf } from '../lib/export-error.ts';
import { loadFaults } from '../service/load-faults.ts';
import { type RunningService, type ServiceOptions, startService } from '../service/start-service.ts';

interface ServeArguments {
  readonly assets: readonly string[];
  readonly host: string;
  readonly port: string;
  readonly 'api-key-file'?: string;
  readonly 'credits-per-day'?: string;
  readonly 'credits-per-second'?: string;
  readonly 'max-ids': string;
  readonly store?: string;
  readonly faults?: string;
}

const text = { type: 'string', requiresArg: true } as const;

/** `serve`: the service on local data, until SIGINT or SIGTERM. */
export const serveCommand: CommandModule<object, ServeArguments> = {
  command: 'serve',
  describe: 'answer getAsset and getAssets from local records, as the service does',
  builder: (args) =>
    args
      .example('$0 serve --assets data/assets.jsonl.gz', 'any key is taken; run with --url http://127.0.0.1:8787')
      .example('$0 serve --assets day1.jsonl --assets day2.jsonl.zst --store /var/tmp/assets', 'more than memory holds')
      .example('$0 serve --assets a.jsonl --credits-per-day 3000000 --credits-per-second 500', 'limits of a free plan')
      .example('$0 serve --assets a.jsonl --faults faults.yaml', 'the service on a bad day: see docs/service.md')
      .option('assets', {
        ...text,
        array: true,
        demandOption: true,
        describe: 'JSONL files with a record a line, also .gz and .zst',
      })
      .option('host', { ...text, default: '127.0.0.1', describe: 'address to listen on' })
      .option('port', { ...text, default: '8787', describe: 'port to listen on; 0 for any free one' })
      .option('api-key-file', { ...text, describe: 'file of the keys to let in, one a line [default: any key]' })
      .option('credits-per-day', { ...text, describe: 'balance of a key and UTC day [default: no limit]' })
      .option('credits-per-second', { ...text, describe: 'credits a key may spend a second [default: no limit]' })
      .option('max-ids', { ...text, default: '1000', describe: 'ids that a call may ask for' })
      .option('store', { ...text, describe: 'folder for records and balances on disk [default: memory]' })
      .option('faults', { ...text, describe: 'YAML file of faults to suffer, for tests' })
      .epilogue('The address is printed on stdout when the service is ready; GET /healthz says so too.') as never,
  handler: async (args) => {
    const service = await startService(await optionsOf(args));
    process.stdout.write(`${service.url}\n`);
    process.stderr.write(`serving ${service.assets} assets at ${service.url}/v3/<key>\n`);
    await endOfSignal();
    await service.close();
    process.stderr.write(`${accountText(service)}\n`);
    process.exitCode = exitCodes.complete.code;
  },
};

async function optionsOf(args: ServeArguments): Promise<ServiceOptions> {
  const keyFile = args['api-key-file'];
  const perDay = args['credits-per-day'];
  const perSecond = args['credits-per-second'];
  return {
    assets: args.assets,
    host: args.host,
    port: count('port', args.port),
    maxIds: count('max-ids', args['max-ids']),
    clock: systemClock,
    onBug: (message) => process.stderr.write(`bug: ${message}\n`),
    ...(keyFile === undefined ? {} : { apiKeys: keysIn(keyFile) }),
    ...(perDay === undefined ? {} : { creditsPerDay: count('credits-per-day', perDay) }),
    ...(perSecond === undefined ? {} : { creditsPerSecond: count('credits-per-second', perSecond) }),
    ...(args.store === undefined ? {} : { storeDir: args.store }),
    ...(args.faults === undefined ? {} : { faults: await loadFaults(args.faults) }),
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
