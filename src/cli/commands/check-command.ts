import { makeTemporary } from '../../lib/disk/on-disk.ts';
import { runWings } from '../../world/wings.ts';
import { rm } from 'node:fs/promises';
import { ignoredProxy, proxyFromEnvironment } from '../../core/client/wire/proxy-settings.ts';
import { isEmbedded, type Job, jobOn, jobWarnings } from '../../core/job/job-schema.ts';
import type { LoadedJob } from '../../core/job/load-job.ts';
import { systemClock, utcDay } from '../../lib/clock.ts';
import { count, printable } from '../../lib/format-text.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import { openObjects, type StoreRequest } from '../../places/objects/open-objects.ts';
import { shortLimits } from '../../places/objects/store-retries.ts';
import { requireRunnable } from '../../core/run/disk-estimate.ts';
import type { CheckedBase } from '../../wings/nights/index.ts';
import {
  checkCall,
  checkClock,
  type OtherClock,
  checkAddress,
  checkCertificate,
  type CheckedAddress,
  type Fact,
} from '../../core/run/check/check-service.ts';
import { checkDisk, type CheckedIds, checkIds, checkOutput } from '../../core/run/check/check-output.ts';
import { localDisk } from '../../places/files/disk.ts';
import type { CommandLine } from '../command.ts';
import { jobCommand, jobOf, stateGroup } from '../job-flags.ts';
import { stateFolder } from '../../world/open-service.ts';
import { bookedOf, keyPlace, openServiceFor, requireRecords } from '../run-context.ts';
import { columnLines, isOfWallets, namedFrom } from '../output/summary-text.ts';
import { errorText, errorJson, forPeople } from '../output/show-error.ts';
import { takeKeyAway } from '../../world/read-api-key.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { type HomeContext, openStoreAt } from '../../core/run/homes/open-home.ts';

/** `check`: what can be wrong with a job before credits are spent. */
export const checkCommand = jobCommand(
  {
    usage: ['check <job.yaml> [--call] [flags]', 'check --ids FILE --url BASE --out DIR [flags]'],
    about:
      'Checks everything that can be wrong before credits are spent: job, packages, metrics port, ids, base, key, service address, certificate, output, database, clock and disk. Prints a line for each, and ends with the exit code of the first failure. Spends nothing: it connects to the service and sends no request. In the output it makes and removes a probe.',
    examples: [
      { line: 'check job.yaml', about: 'before the first run, and after each change of the machine' },
      { line: 'check job.yaml --call', about: 'also requests one id, which costs one call' },
    ],
    notes:
      'Of each id file, check reads the first 1,000 entries; asset-export plan reads all and prints the bill. check does not know the target of asset-export load.',
    run: (args) => check(args),
  },
  [
    { name: 'call', about: 'if nothing else fails, request the first id: costs one call' },
    { name: 'json', about: 'print one JSON object' },
    ...stateGroup.flags,
  ],
);

/** What questions know of the answers to those before. */
interface Known {
  readonly loaded: LoadedJob;
  readonly ids?: CheckedIds;
  readonly base?: CheckedBase;
  readonly address?: CheckedAddress;
  readonly clocks: readonly OtherClock[];
}

interface Asking {
  readonly args: CommandLine;
  /** As it was given, with the key: the terminal's has lost it by now. */
  readonly environment: Record<string, string | undefined>;
  /** A temporary one, made when it is first needed. @throws {ExportError} `cannotWrite` */
  readonly folder: () => Promise<string>;
}

interface Question {
  readonly name: string;
  /** The questions whose failure makes this one pointless, besides `job`. */
  readonly after: readonly string[];
  readonly ask: (known: Known, asking: Asking) => Promise<Fact & Partial<Known>>;
}

/** A store that does not answer is not waited for as a run does. */
const context = {
  files: localDisk,
  clock: systemClock,
  random: Math.random,
  openStore: (request: StoreRequest) => openObjects({ ...request, ...shortLimits }),
};

const questions: readonly Question[] = [
  {
    name: 'packages',
    after: [],
    ask: async ({ loaded }) => {
      const users = await loadJobPackages(loaded.job, context);
      return { fact: users.length === 0 ? 'none needed' : `those for ${users.join(' and ')} are installed` };
    },
  },
  {
    name: 'metrics',
    after: [],
    ask: async ({ loaded: { job } }) => {
      const { listen } = job.metrics;
      if (listen === undefined) return { fact: 'not served' };
      await (await import('../../wings/observe/index.ts')).requireListening(listen);
      return { fact: `can be served on ${listen}` };
    },
  },
  {
    name: 'ids',
    after: ['packages'],
    ask: async ({ loaded }, { args, folder }) => {
      const ids = await checkIds(loaded, { folder: await folder(), context });
      const columns = ids.columns.filter(isOfWallets);
      const named = namedFrom({ columns, invalidSamples: [] }, loaded.idsFolder, args.terminal.cwd());
      return { ...ids, warnings: [...(ids.warnings ?? []), ...columnLines(named.columns)], ids };
    },
  },
  {
    name: 'base',
    after: ['packages'],
    ask: async ({ loaded: { job }, ids }) => {
      const { checkBase } = await import('../../wings/nights/index.ts');
      const base = await checkBase(job, ids, context);
      return { ...base, base };
    },
  },
  {
    name: 'key',
    after: [],
    ask: async ({ loaded: { job } }, { args, environment }) => {
      if (isEmbedded(job.service.url)) return { fact: 'not needed: the records are local' };
      const place = keyPlace(job, args, environment);
      if (place === undefined) return { fact: 'not needed: services of this dialect take none' };
      // The database is a question of its own.
      if (job.fleet.database !== undefined) return { fact: `in ${place}` };
      const ledger = await bookedOf(job, args, undefined, { ...environment });
      const booked = (await ledger?.booked(utcDay(systemClock.now()))) ?? 0;
      return { fact: `in ${place}; ${count(booked)} credits booked today` };
    },
  },
  {
    name: 'address',
    after: [],
    ask: async ({ loaded: { job } }, { args }) => {
      await requireRecords(job);
      if (isEmbedded(job.service.url)) return { fact: `${job.service.url} can be read` };
      const address = await checkAddress(job, proxyFromEnvironment(args.terminal.env));
      return { ...address, address };
    },
  },
  {
    name: 'certificate',
    after: ['address'],
    ask: async ({ address }) =>
      address === undefined ? { fact: 'none' } : checkCertificate(address, systemClock.now()),
  },
  {
    name: 'store',
    after: ['packages'],
    ask: async ({ loaded: { job, outputDir }, ids, clocks }) => {
      const { inputs } = ids ?? { inputs: undefined };
      const { clock, ...fact } = await checkOutput(job, { ...context, ...runWings }, { outputDir, inputs });
      return { ...fact, clocks: [...clocks, ...(clock === undefined ? [] : [clock])] };
    },
  },
  {
    name: 'database',
    after: ['packages'],
    ask: async ({ loaded: { job }, clocks }) => {
      if (job.fleet.database === undefined) return { fact: 'none' };
      const { checkDatabase } = await import('../../wings/fleet/index.ts');
      const { clock, ...fact } = await checkDatabase(job.fleet.database, context);
      return { ...fact, clocks: [...clocks, clock] };
    },
  },
  { name: 'clock', after: [], ask: async ({ clocks }) => checkClock(clocks) },
  {
    name: 'disk',
    after: [],
    ask: ({ loaded: { job }, ids, base }, { args }) => {
      const isElsewhere = job.fleet.database !== undefined || isEmbedded(job.service.url);
      const ledger = isElsewhere ? undefined : stateFolder(args.text('state-dir'), args.terminal);
      return checkDisk(job, { entries: ids?.inAll, hasBase: base?.isThere === true, stateFolder: ledger });
    },
  },
];

const call: Question = {
  name: 'call',
  after: questions.map(({ name }) => name),
  ask: async ({ loaded: { job }, ids }, { args, environment }) => {
    const open = await openServiceFor(job, args, { environment });
    try {
      const { signal } = new AbortController();
      const common = {
        clock: systemClock,
        random: Math.random,
        listener: () => undefined,
        stop: signal,
        abort: signal,
      };
      return await checkCall(job, ids?.firstIds[0], { ...common, proxy: open.proxy, ...open });
    } finally {
      await open.close();
    }
  },
};

async function check(args: CommandLine): Promise<number> {
  const environment = { ...args.terminal.env };
  takeKeyAway(args.terminal.env);
  const cwd = args.terminal.cwd();
  let made: Promise<string> | undefined;
  const folder = (): Promise<string> => (made ??= makeTemporary('check'));
  try {
    const lines = await linesOf({ args, environment, folder });
    const failures = lines.flatMap(({ error }) => error ?? []);
    const exitCode = failures[0]?.exitCode ?? exitCodes.complete.code;
    args.terminal.stdout.write(args.isOn('json') ? checkJson(lines, exitCode) : checkedText(lines, cwd));
    for (const error of failures) args.terminal.stderr.write(`${errorText(error, cwd)}\n`);
    return exitCode;
  } finally {
    const temporary = await made?.catch(() => undefined);
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }
}

async function linesOf(asking: Asking): Promise<CheckLine[]> {
  const { args } = asking;
  let known: Known | undefined;
  const lines = [
    await lineOf('job', async () => {
      const loaded = jobOf(args);
      const job = jobOn(loaded.job, utcDay(systemClock.now()));
      requireRunnable(job);
      known = { loaded: { ...loaded, job }, clocks: [] };
      const ignored = ignoredProxy(job.service.url, args.terminal.env);
      const [file] = args.words;
      return {
        fact: `${file === undefined ? 'the flags' : shownPath(file, args.terminal.cwd())}: no mistake`,
        warnings: [...jobWarnings(job), ...(ignored === undefined ? [] : [ignored])],
      };
    }),
  ];
  for (const { name, after, ask } of args.isOn('call') ? [...questions, call] : questions) {
    const failed = lines.find((line) => (line.name === 'job' || after.includes(line.name)) && line.error !== undefined);
    const before = known;
    if (failed !== undefined || before === undefined) {
      lines.push({ name, state: 'not looked at', text: `${failed?.name ?? 'job'} failed` });
      continue;
    }
    const line = await lineOf(name, async () => {
      const { fact, warnings, ...seen } = await ask(before, asking);
      known = { ...before, ...seen };
      return { fact, ...(warnings === undefined ? {} : { warnings }) };
    });
    lines.push(line);
  }
  return lines;
}

async function lineOf(name: string, ask: () => Promise<Fact>): Promise<CheckLine> {
  try {
    const { fact, warnings = [] } = await ask();
    const text = oneLine([fact, ...warnings].join('; '));
    return { name, state: warnings.length === 0 ? 'ok' : 'warning', text };
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    return { name, state: 'failure', text: oneLine(error.message), error };
  }
}

/**
 * Loads the optional packages that a job needs: those of its buckets and of its database.
 * @returns what needs them
 * @throws {ExportError} `usage`, with the line that installs them
 */
async function loadJobPackages(job: Job, context: Omit<HomeContext, 'files'>): Promise<string[]> {
  const addresses = [job.output.dir, ...job.ids.from, job.base.from ?? ''].filter(isBucketAddress);
  const schemes = new Map(addresses.map((address) => [address.slice(0, address.indexOf(':')), address]));
  for (const [scheme, address] of schemes) {
    const endpoint = scheme === 's3' ? job.output.endpoint : undefined;
    const [fixed = ''] = address.split('*');
    await openStoreAt(fixed, endpoint, context);
  }
  const users = [...schemes.keys()].map((scheme) => `${scheme}://`);
  if (job.fleet.database === undefined) return users;
  await (await import('../../wings/fleet/index.ts')).requirePg();
  // The slices of a fleet lie in a bucket, and its queue in the database.
  if (isBucketAddress(job.output.dir)) await (await import('../../wings/fleet/index.ts')).requireQueue();
  return [...users, 'fleet.database'];
}

/** What became of one question of `check`. */
interface CheckLine {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failure' | 'not looked at';
  /** The fact that was seen, on one line. */
  readonly text: string;
  readonly error?: ExportError;
}

function checkedText(lines: readonly CheckLine[], cwd: string): string {
  return lines.map(({ name, state, text }) => `  ${name.padEnd(12)} ${forPeople(said(state, text), cwd)}\n`).join('');
}

function said(state: CheckLine['state'], text: string): string {
  return state === 'not looked at' ? `${'-'.padEnd(8)} ${state}: ${text}` : `${state.padEnd(8)} ${text}`;
}

function checkJson(lines: readonly CheckLine[], exitCode: number): string {
  const checks = lines.map(({ name, state, text, error }) => ({
    name,
    state,
    text,
    exitCode: error?.exitCode ?? null,
    error: errorJson(error),
  }));
  return `${JSON.stringify({ exitCode, checks })}\n`;
}

/** A text on one line. */
function oneLine(text: string): string {
  return printable(text.replaceAll(/:\s*\n\s*/g, ': ').replaceAll(/\s*\n\s*/g, '; '));
}
