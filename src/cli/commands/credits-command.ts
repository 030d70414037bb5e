import { openDiskLedger, readLedgers } from '../../client/ledger/credit-ledger.ts';
import { keyHash } from '../../client/ledger/ledger-file.ts';
import { systemClock, utcDay } from '../../lib/clock.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import { shownPath } from '../../lib/shown-path.ts';
import type { Command, CommandArguments } from '../command.ts';
import { count } from '../../lib/format-text.ts';
import { stateGroup } from '../job-flags.ts';
import { stateFolder } from '../open-service.ts';
import { readApiKey } from '../read-api-key.ts';

/** `credits`: what is booked in the ledger, and correcting it to what the provider says. */
export const creditsCommand: Command = {
  usage: ['credits [flags]', 'credits set <credits> [--day DAY] [flags]'],
  about:
    'Shows the credits booked per UTC day, or sets a day to the usage that the provider’s page shows. Sends nothing.',
  examples: [
    { line: 'credits --api-key-file key.txt', about: 'credits booked under one key; without a key, under all' },
    { line: 'credits set 480000 --api-key-file key.txt', about: 'sets today to the usage on the provider’s page' },
    { line: 'credits set 0 --day 2026-11-20', about: 'sets another day; the key is in ASSET_EXPORT_API_KEY' },
  ],
  words: { name: '[set <credits>]', about: 'correct one day in the ledger of the key', least: 0, most: 2 },
  groups: [
    {
      title: 'Flags',
      flags: [
        { name: 'api-key-file', value: 'PATH', about: 'file with the key (else ASSET_EXPORT_API_KEY)' },
        { name: 'day', value: 'DAY', about: 'UTC day to set, for example 2026-11-20', standard: 'today' },
        ...stateGroup.flags,
        { name: 'json', about: 'print one JSON object' },
      ],
    },
  ],
  notes:
    'Keys are shown as hashes. Running exports use a new value from their next call on. Their calls in flight are added to it, because the page may not count them yet.',
  run: async (args) => {
    const state = { stateDir: stateFolder(args.text('state-dir')), apiKey: givenKey(args) };
    process.stdout.write(args.words.length === 0 ? await shownText(args, state) : await setText(args, state));
    return exitCodes.complete.code;
  },
};

interface State {
  readonly stateDir: string;
  readonly apiKey: string | undefined;
}

/** The key as `run` finds it, without a job file. */
function givenKey(args: CommandArguments): string | undefined {
  const flag = args.text('api-key-file');
  const file = flag ?? process.env['ASSET_EXPORT_API_KEY_FILE'];
  const variable = process.env['ASSET_EXPORT_API_KEY'] ?? '';
  if (file === undefined && variable.trim() === '') return undefined;
  return readApiKey({ file, fileFromFlag: flag !== undefined, environment: process.env });
}

async function shownText(args: CommandArguments, { stateDir, apiKey }: State): Promise<string> {
  if (args.text('day') !== undefined) throw new ExportError('usage', '--day works only with credits set <credits>');
  const booked = await readLedgers({ stateDir, ...(apiKey === undefined ? {} : { apiKey }) });
  const today = utcDay(systemClock.now());
  const ledgers = [...new Set(booked.map((each) => each.keyHash))].map((hash) => ({
    key: hash,
    days: booked.filter((each) => each.keyHash === hash).map(({ day, credits }) => ({ day, credits })),
  }));
  if (args.isOn('json')) return `${JSON.stringify({ today, ledgers })}\n`;
  if (ledgers.length === 0) {
    const whose = apiKey === undefined ? '' : ` under key ${keyHash(apiKey)}`;
    return `No credits booked${whose} in ${shownPath(stateDir, process.cwd())}.\n`;
  }
  const width = Math.max(...booked.map(({ credits }) => count(credits).length));
  const texts = ledgers.map(({ key, days }) => {
    const rows = days.map(
      ({ day, credits }) => `  ${day}  ${count(credits).padStart(width)}${day === today ? '  today' : ''}`,
    );
    return [`Credits booked under key ${key}, by UTC day:`, ...rows].join('\n');
  });
  return `${texts.join('\n\n')}\n`;
}

async function setText(args: CommandArguments, { stateDir, apiKey }: State): Promise<string> {
  const credits = creditsOf(args.words);
  const day = args.text('day') ?? utcDay(systemClock.now());
  if (!isDay(day)) throw new ExportError('usage', '--day must be a UTC day, for example 2026-11-20');
  if (apiKey === undefined) {
    throw new ExportError('usage', 'credits set needs the API key', {
      todo: 'Name the key file with --api-key-file, or set the environment variable ASSET_EXPORT_API_KEY.',
    });
  }
  const ledger = await openDiskLedger({ stateDir, apiKey });
  const correction = await ledger.set({ day, credits }).finally(() => ledger.close());
  const key = keyHash(apiKey);
  const { before = null, after, inFlight } = correction;
  if (args.isOn('json')) return `${JSON.stringify({ key, day, before, after, inFlight })}\n`;
  const was = before === null ? 'the ledger was damaged' : `${count(before)} credits were booked`;
  const flying = inFlight === 0 ? '' : `\n  ${count(inFlight)} of them for calls that are in flight`;
  return `${day} under key ${key}: ${was}, now ${count(after)}${flying}\n`;
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
