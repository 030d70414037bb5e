import {
  type Correction,
  type BookedDay,
  type DiskLedger,
  openDiskLedger,
  readLedgers,
} from '../../core/client/ledger/credit-ledger.ts';
import { showWarning } from '../output/show-error.ts';
import { surroundings } from '../run-context.ts';
import {
  namedAccount,
  accountPattern,
  accountRule,
  type LedgerOf,
  ledgerName,
} from '../../core/client/ledger/ledger-file.ts';
import { defaultDialect, type ServiceDialect, takesKey } from '../../core/client/dialects.ts';
import { environmentName } from '../../core/job/job-fields.ts';
import { loadJob } from '../../core/job/load-job.ts';
import { systemClock, utcDay } from '../../lib/clock.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import type { Command, CommandLine } from '../command.ts';
import { count, plural } from '../../lib/format-text.ts';
import { openFleetBudget, readFleetLedger, stateFolder } from '../../world/open-service.ts';
import { givenDialect } from '../flag-values.ts';
import { stateGroup } from '../job-flags.ts';
import { keyFor, ledgerKey, readApiKey } from '../../world/read-api-key.ts';
import type { Terminal } from '../stop-signals.ts';

/** `credits`: what is booked in the ledger, and correcting it to what the provider says. */
export const creditsCommand: Command = {
  usage: ['credits [flags]', 'credits set <credits> [--day DAY] [flags]'],
  about:
    'Shows the credits booked per UTC day, or sets a day to the usage that you read on the provider’s page. Sends nothing.',
  examples: [
    { line: 'credits --api-key-file key.txt', about: 'credits booked under one key; without a key, under all' },
    { line: 'credits set 480000 --api-key-file key.txt', about: 'sets today to the usage on the provider’s page' },
    { line: 'credits set 0 --day 2026-11-20', about: 'sets another day; the key is in ASSET_EXPORT_API_KEY' },
    { line: 'credits --account main', about: 'credits booked under an account (budget.account)' },
    { line: 'credits --fleet job.yaml', about: 'the shared ledger that the job names in fleet.database' },
  ],
  words: { name: '[set <credits>]', about: 'correct one day in the ledger of the key or account', least: 0, most: 2 },
  groups: [
    {
      title: 'Flags',
      flags: [
        { name: 'api-key-file', value: 'PATH', about: 'file with the key (else ASSET_EXPORT_API_KEY)' },
        {
          name: 'account',
          value: 'NAME',
          about: `ledger of this account (budget.account); it needs no key (else ${environmentName('account')})`,
        },
        {
          name: 'dialect',
          value: 'NAME|FILE',
          about: `dialect of the service (else ${environmentName('dialect')}): without a key, its ledger goes by --url`,
        },
        { name: 'url', value: 'BASE', about: 'address of a service without a key' },
        { name: 'day', value: 'DAY', about: 'UTC day to set, for example 2026-11-20', standard: 'today' },
        {
          name: 'fleet',
          value: 'ADDRESS|JOB',
          about: `shared ledger in PostgreSQL: its address, or a job file with fleet.database and the key file (else ${environmentName('fleet')})`,
        },
        ...stateGroup.flags,
        { name: 'json', about: 'print one JSON object' },
      ],
    },
  ],
  notes:
    'Keys are shown as hashes. Running exports use a new value from their next call on. Their calls in flight are added to it, because the page may not count them yet.',
  run: async (args) => {
    const books = booksOf(args);
    args.terminal.stdout.write(args.words.length === 0 ? await shownText(args, books) : await setText(args, books));
    return exitCodes.complete.code;
  },
};

/** The ledgers that a command line means. */
interface Books {
  /** As people know the place. */
  readonly place: string;
  readonly whose: LedgerOf;
  /** Of one ledger when a key or an account is given. */
  readonly read: () => Promise<BookedDay[]>;
  readonly open: () => Promise<DiskLedger>;
}

function booksOf(args: CommandLine): Books {
  const fleet = args.text('fleet') ?? args.terminal.env[environmentName('fleet')];
  if (fleet === undefined || fleet === '') {
    const stateDir = stateFolder(args.text('state-dir'), args.terminal);
    const whose = { apiKey: givenKey(args), account: givenAccount(args) };
    return {
      place: shownPath(stateDir, args.terminal.cwd()),
      whose,
      read: () => readLedgers({ stateDir, ...whose }),
      open: () => openDiskLedger({ stateDir, ...whose }),
    };
  }
  const { database, keyFile, account } = databaseOf(fleet, args.terminal);
  const whose = { apiKey: givenKey(args, keyFile), account: givenAccount(args) ?? account };
  return {
    place: 'the shared database',
    whose,
    read: () => readFleetLedger(database, whose),
    open: async () => (await openFleetBudget(database, { ...whose, tell: surroundings(args.terminal).tell })).ledger,
  };
}

/** The database that `--fleet` names, or that its job file does. An address may hold a password: it is not repeated. */
function databaseOf(
  fleet: string,
  { env, cwd }: Terminal,
): {
  readonly database: string;
  readonly keyFile?: string | undefined;
  readonly account?: string | undefined;
} {
  if (fleet.includes('://')) return { database: fleet };
  const { job } = loadJob({ file: fleet, environment: env, folder: cwd() });
  const { database } = job.fleet;
  if (database !== undefined) return { database, keyFile: job.service.apiKeyFile, account: job.budget.account };
  throw new ExportError('usage', `${fleet} does not set fleet.database`, {
    todo: 'Name a job file with fleet.database, or the address of the shared database.',
  });
}

/** The account as `run` finds it. @throws {ExportError} `usage` */
function givenAccount(args: CommandLine): string | undefined {
  const variable = environmentName('account');
  const flag = args.text('account');
  const account = flag ?? (args.terminal.env[variable] || undefined);
  if (account === undefined || accountPattern.test(account)) return account;
  const origin = flag === undefined ? variable : '--account';
  throw new ExportError('usage', `${origin} ${accountRule}`, { todo: 'Name it as budget.account of the job does.' });
}

function isGiven({ apiKey, account }: LedgerOf): boolean {
  return apiKey !== undefined || account !== undefined;
}

/** `key d6a7cd2a7371b1a1`, or `account main` */
function shownName(ledger: string): string {
  const account = namedAccount(ledger);
  return account === undefined ? `key ${ledger}` : `account ${account}`;
}

/** The same as members of an object. */
function namedBy(ledger: string): { readonly account: string } | { readonly key: string } {
  const account = namedAccount(ledger);
  return account === undefined ? { key: ledger } : { account };
}

/** The key as `run` finds it. */
function givenKey(args: CommandLine, ofJob?: string): string | undefined {
  const flag = args.text('api-key-file');
  const { env: environment, cwd } = args.terminal;
  const file = flag ?? environment['ASSET_EXPORT_API_KEY_FILE'] ?? ofJob;
  const sources = { file, fileFromFlag: flag !== undefined, environment, cwd: cwd() };
  const dialect = givenDialect(args) ?? defaultDialect;
  if (!takesKey(dialect)) return ledgerKey(keyFor(dialect, sources), addressOf(dialect, args));
  const variable = environment['ASSET_EXPORT_API_KEY'] ?? '';
  return file === undefined && variable.trim() === '' ? undefined : readApiKey(sources);
}

/** The address names the ledger of a service without a key. @throws {ExportError} `usage` when there is none */
function addressOf({ name, url }: ServiceDialect, args: CommandLine): string {
  const address = args.text('url') ?? args.terminal.env[environmentName('url')] ?? url ?? '';
  if (URL.canParse(address)) return address;
  throw new ExportError('usage', `the ledger of the dialect ${name} goes by the address of the service`, {
    todo: 'Name it with --url, as in the job (service.url).',
  });
}

async function shownText(args: CommandLine, { whose, place, read }: Books): Promise<string> {
  if (args.text('day') !== undefined) throw new ExportError('usage', '--day works only with credits set <credits>');
  const booked = await read();
  const today = utcDay(systemClock.now());
  const ledgers = [...new Set(booked.map((each) => each.ledger))].map((name) => ({
    name,
    days: booked.filter((each) => each.ledger === name).map(({ day, credits }) => ({ day, credits })),
  }));
  if (args.isOn('json')) {
    const named = ledgers.map(({ name, days }) => ({ ...namedBy(name), days }));
    return `${JSON.stringify({ today, ledgers: named })}\n`;
  }
  if (ledgers.length === 0) {
    const under = isGiven(whose) ? ` under ${shownName(ledgerName(whose))}` : '';
    return `No credits booked${under} in ${place}.\n`;
  }
  const width = Math.max(...booked.map(({ credits }) => count(credits).length));
  const texts = ledgers.map(({ name, days }) => {
    const rows = days.map(
      ({ day, credits }) => `  ${day}  ${count(credits).padStart(width)}${day === today ? '  today' : ''}`,
    );
    return [`Credits booked under ${shownName(name)}, by UTC day:`, ...rows].join('\n');
  });
  return `${texts.join('\n\n')}\n`;
}

async function setDay(ledger: DiskLedger, change: { day: string; credits: number }): Promise<Correction> {
  try {
    return await ledger.set(change);
  } finally {
    await ledger.close();
  }
}

async function setText(args: CommandLine, { whose, open }: Books): Promise<string> {
  const credits = creditsOf(args.words);
  const day = args.text('day') ?? utcDay(systemClock.now());
  if (!isDay(day)) throw new ExportError('usage', '--day must be a UTC day, for example 2026-11-20');
  if (!isGiven(whose)) {
    throw new ExportError('usage', 'credits set needs the API key or an account', {
      todo: 'Name the key file with --api-key-file or set ASSET_EXPORT_API_KEY; or name the account with --account.',
    });
  }
  const correction = await setDay(await open(), { day, credits });
  const name = ledgerName(whose);
  const { before = null, after, inFlight } = correction;
  const doubt = priceDoubt(credits, correction);
  if (doubt !== undefined) showWarning(doubt, args.terminal);
  if (args.isOn('json')) return `${JSON.stringify({ ...namedBy(name), day, before, after, inFlight })}\n`;
  const was =
    before === null ? 'the ledger was damaged' : `${plural(before, 'credit')} ${before === 1 ? 'was' : 'were'} booked`;
  const flying = inFlight === 0 ? '' : `\n  ${count(inFlight)} of them for calls that are in flight`;
  return `${day} under ${shownName(name)}: ${was}, now ${count(after)}${flying}\n`;
}

/** So many calls make a price below that of the job believable. */
const manyCalls = 100;

/** What the provider's figure says of the price of a call, where it is not what was booked. It never changes a job. */
function priceDoubt(credits: number, { before, calls }: Correction): string | undefined {
  if (before === undefined || calls === undefined || calls.number === 0 || credits === before) return undefined;
  const { number, price } = calls;
  const isExact = credits % number === 0;
  if (credits < before && (!isExact || number < manyCalls)) return undefined;
  const said = `${count(credits)} for ${plural(number, 'call')}`;
  if (!isExact) return `${said} is more than was booked at ${count(price)} a call: check budget.creditsPerCall`;
  return `${said} is ${count(credits / number)} a call, the job says ${count(price)}: set budget.creditsPerCall`;
}

/** What is wrong is not repeated: it may be the key. */
function creditsOf([verb, text = '']: readonly string[]): number {
  const todo = 'See asset-export credits --help.';
  if (verb !== 'set') throw new ExportError('usage', 'unknown argument: credits takes only "set"', { todo });
  const credits = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(credits)) return credits;
  throw new ExportError('usage', 'credits set needs a whole number of credits, 0 or more: credits set 480000', {
    todo,
  });
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && utcDay(ms) === text;
}
