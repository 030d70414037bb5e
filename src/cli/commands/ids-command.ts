import { basename, resolve } from 'node:path';
import { createMemoryLedger } from '../../core/client/ledger/credit-ledger.ts';
import { listFilters } from '../../core/client/dialects.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { type AddressUse, requireAddress } from '../../lib/addresses/address.ts';
import { thenCleanUp } from '../../lib/end-work.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import { programVersion } from '../../lib/packages/package-root.ts';
import { systemClock, type Clock, uuidV7 } from '../../lib/clock.ts';
import { localDisk } from '../../places/files/disk.ts';
import type { ListEvent, ListIdsRequest, ListOutcome, requestedList as asked } from '../../wings/listing/index.ts';
import { openService } from '../../world/open-service.ts';
import type { Command, CommandFlag, CommandLine } from '../command.ts';
import { absoluteAddress } from '../export-place.ts';
import { countOf } from '../flag-values.ts';
import {
  fleetGroups,
  jobFlagGroups,
  jobOf,
  jobWords,
  stateGroup,
  runFlags,
  type RunSettings,
  runSettings,
} from '../job-flags.ts';
import { lookedAround } from '../run-context.ts';
import { errorJson, errorText, forPeople } from '../output/show-error.ts';
import { listSummary } from '../output/list-text.ts';
import type { ShownListing } from '../progress/listing-progress.ts';
import type { Terminal } from '../stop-signals.ts';
import type { LoggedListing } from '../progress/listing-log.ts';
import { isTerminal } from '../progress/show-progress.ts';
export const filterFlags: readonly CommandFlag[] = [
  { name: 'collection', value: 'ADDRESS', about: 'members of a collection' },
  { name: 'owner', value: 'ADDRESS', about: 'assets of an owner' },
  { name: 'creator', value: 'ADDRESS', about: 'assets of a creator' },
  { name: 'authority', value: 'ADDRESS', about: 'assets of an update authority' },
  { name: 'tree', value: 'ADDRESS', about: 'assets of a Merkle tree, where a dialect from a file lists them' },
  { name: 'unverified', about: 'members of unverified collections too, where the service can list them' },
  { name: 'only-verified', about: 'of a creator: only assets that it signed' },
];

export const listFlags: readonly CommandFlag[] = [
  { name: 'out', value: 'FILE', about: 'the list: one id a line, sorted; .gz and .zst compress' },
  { name: 'records', value: 'DIR', about: 'keep the records of all pages as an export that run takes as --base' },
  { name: 'expect', value: 'N', about: 'the number of members; another count ends with exit 3' },
  {
    name: 'proof-calls',
    value: 'N',
    about: 'most pages that may come back empty or be requested again, for the proof',
  },
  { name: 'limit', value: 'N', about: 'members a page, where the service gives fewer than the dialect says' },
  { name: 'fresh', about: 'delete what an earlier process left of this list, and start over' },
];

/** Flags of calls for ids: pages have a limit and a price of their own, and `--unverified`. */
const flagsForIds = ['ids-per-call', 'credits-per-call', 'show-unverified-collections', 'singles'];

/** The job flags that matter to a list. */
export const listJobGroups = jobFlagGroups('service', 'budget').map((group) => ({
  ...group,
  flags: group.flags.filter(({ name }) => !flagsForIds.includes(name)),
}));

/** `ids`: a list that is proven complete. */
export const idsCommand: Command = {
  usage: [
    'ids --collection ADDRESS --dialect NAME --out FILE [flags]',
    'ids [job.yaml] --owner ADDRESS --out FILE [flags]',
  ],
  about:
    'Lists the ids of a collection, an owner, a creator or an authority, and proves that none is missing, or says that it is not proven. The methods of lists are documented by the providers; the specification does not have them. Burnt assets are never listed.',
  examples: [
    { line: 'ids --collection <address> --dialect helius --out mints.txt', about: 'the members of a collection' },
    {
      line: 'ids --creator <address> --only-verified --dialect helius --out mints.txt.gz --records listed',
      about: 'and their records, which run --base listed --max-age never does not request again',
    },
  ],
  words: { ...jobWords, about: 'job file (YAML); only service, budget and fleet of it are used' },
  groups: [
    { title: 'What is listed', flags: filterFlags },
    { title: 'This command', flags: [...listFlags, ...runFlags, ...stateGroup.flags] },
    ...listJobGroups,
    ...fleetGroups,
  ],
  notes:
    'A page or a total costs list.creditsPerPage of the dialect (asset-export help dialects). To resume, run the same command again: answered pages cost nothing. A list that is not proven ends with exit 3 and is written to FILE.unproven.',
  run: (args) => {
    const records = args.text('records');
    return listed(args, {
      out: outOf(args, 'list'),
      records:
        records === undefined ? undefined : absoluteAddress(records, 'changes', '--records', args.terminal.cwd()),
    });
  },
};

/** Where a list goes, and what a command makes of it when it is proven. */
export interface ListTarget {
  readonly out: string;
  readonly records?: string | undefined;
  /** Gives what is printed below the account, as text and as members of the JSON. */
  readonly then?: () => Promise<MadeOfList>;
}

export interface MadeOfList {
  readonly text: string;
  readonly facts: object;
}

/** The file that --out names. @throws {ExportError} `usage` */
export function outOf(args: CommandLine, use: AddressUse): string {
  const out = args.text('out');
  if (out === undefined)
    throw new ExportError('usage', '--out FILE is missing', { todo: `Name the file of the ${use}.` });
  return resolve(args.terminal.cwd(), requireAddress(out, use, '--out'));
}

/** Makes a list as the flags say. Gives the exit status. */
export async function listed(args: CommandLine, target: ListTarget): Promise<number> {
  const { terminal } = args;
  const settings = runSettings(args);
  const { signals } = settings;
  // Of a job only service, budget and fleet are used.
  const { job } = jobOf(args, { out: '.', ids: '-' });
  const { listIds, requestedList } = await import('../../wings/listing/index.ts');
  const request = requestOf(args, target, { job, requestedList });
  const open = await openService({
    job,
    ...lookedAround(args),
    abort: signals.abort,
    embeddedLedger: () => Promise.resolve(createMemoryLedger()),
  });
  const shown = await showListing({ ...request, clock: systemClock }, logOf(request, settings), terminal);
  const tell = (message: string): void => {
    shown.tell(forPeople(message, terminal.cwd()));
  };
  open.tellTo?.(tell);
  signals.listen(tell);
  let hasBegun = false;
  const onEvent = (event: ListEvent): void => {
    hasBegun ||= event.kind === 'opened';
    shown.onEvent(event);
  };
  return thenCleanUp({
    work: async () => {
      for (const warning of open.warnings ?? []) tell(`warning: ${warning}`);
      const listing = listIds(request, {
        clock: systemClock,
        random: Math.random,
        files: localDisk,
        proxy: undefined,
        version: programVersion(),
        stop: signals.stop,
        abort: signals.abort,
        ...open,
        listener: shown.listener,
        onEvent,
      });
      const ended = await endOf(listing, shown, () => hasBegun);
      const telling = { ...settings, logEnd: shown.logEnd };
      const isProven = !(ended instanceof ExportError) && ended.error === undefined;
      const made = isProven ? await target.then?.() : undefined;
      return ended instanceof ExportError
        ? tellStopped(ended, telling)
        : tellOutcome(ended, request, { ...telling, made });
    },
    hasFailed: (exitCode) => exitCode !== exitCodes.complete.code,
    cleanUp: [
      () => open.close(),
      async () => {
        signals.dispose();
      },
    ],
  });
}

function logOf({ out }: ListIdsRequest, { logLevel: level }: RunSettings) {
  return { level, base: { run: uuidV7(systemClock.now()), list: basename(out), version: programVersion() } };
}

/** @throws {ExportError} `usage` for what the dialect cannot list */
function requestOf(
  args: CommandLine,
  { out, records }: ListTarget,
  { job, requestedList }: { readonly job: Job; readonly requestedList: typeof asked },
): ListIdsRequest {
  return requestedList(
    {
      ...Object.fromEntries(listFilters.map((filter) => [filter, args.text(filter)])),
      unverified: args.isOn('unverified'),
      onlyVerified: args.isOn('only-verified'),
      out,
      records,
      expect: countOf(args, 'expect', { least: 1 }),
      proofCalls: countOf(args, 'proof-calls'),
      limit: countOf(args, 'limit', { least: 1 }),
      fresh: args.isOn('fresh'),
    },
    job,
  );
}

/** What a list came to; the error of one that was stopped, where its log tells of it. */
async function endOf(
  listing: Promise<ListOutcome>,
  shown: ShownListing,
  hasBegun: () => boolean,
): Promise<ListOutcome | ExportError> {
  try {
    return await listing;
  } catch (error) {
    if (hasBegun() && shown.logEnd !== undefined && error instanceof ExportError) return error;
    throw error;
  } finally {
    shown.end();
  }
}

interface Telling extends RunSettings {
  readonly logEnd: ShownListing['logEnd'];
  readonly made?: MadeOfList | undefined;
}

/** Reports what stopped a list in the last line of its log, which holds nothing but JSON. Gives the exit status. */
function tellStopped(error: ExportError, { terminal, json, logEnd }: Telling): number {
  const told = { state: 'error', exitCode: error.exitCode, error: errorJson(error) };
  if (json) terminal.stdout.write(`${JSON.stringify(told)}\n`);
  logEnd?.(told, 'error');
  return error.exitCode;
}

/** Prints the account on stdout and reports how the list ended: in the last line of the log, or an error as text. Gives the exit status. */
function tellOutcome(outcome: ListOutcome, request: ListIdsRequest, telling: Telling): number {
  const { terminal, json, logEnd, made } = telling;
  const { stdout, stderr, cwd } = terminal;
  const { account, path, error, callsOfRun, creditsOfRun } = outcome;
  const exitCode = error?.exitCode ?? exitCodes.complete.code;
  const state = error === undefined ? 'complete' : 'unproven';
  const list = account.members === 0 ? null : path;
  const told = { state, exitCode, list, ...account, callsOfRun, creditsOfRun, ...made?.facts, error: errorJson(error) };
  const summary = [listSummary(account, request.dialect), made?.text].filter((text) => text !== undefined).join('\n\n');
  stdout.write(`${json ? JSON.stringify(told) : summary}\n`);
  // List and version are in each line of a log.
  const logged = { ...told, list: undefined, version: undefined };
  if (logEnd !== undefined) logEnd(logged, error === undefined ? 'info' : 'error');
  else if (error !== undefined) stderr.write(`${errorText(error, cwd())}\n`);
  return exitCode;
}

/** Shows how far a list is on stderr: lines that are redrawn on a terminal, log lines elsewhere. */
async function showListing(
  request: Pick<ListIdsRequest, 'dialect'> & { readonly clock: Clock },
  logged: LoggedListing,
  { stderr, env }: Pick<Terminal, 'stderr' | 'env'>,
): Promise<ShownListing> {
  if (isTerminal(stderr, env))
    return (await import('../progress/listing-progress.ts')).listingOnTerminal(request, stderr);
  return (await import('../progress/listing-log.ts')).listingInLog(request, logged, stderr);
}
