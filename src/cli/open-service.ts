import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { CreditLedger, DiskLedgerOptions } from '../core/client/ledger/credit-ledger.ts';
import type { LedgerOf } from '../core/client/ledger/ledger-name.ts';
import type { SharedPace } from '../core/client/policies/shared-pace.ts';
import {
  ignoredProxy,
  proxyFor,
  proxyFromEnvironment,
  type ProxySettings,
} from '../core/client/wire/proxy-settings.ts';
import { serviceAddress } from '../core/client/wire/service-address.ts';
import { embedded, isEmbedded, type Job } from '../core/job/job-schema.ts';
import { tlsFor } from '../core/job/tls-files.ts';
import { requireAddress } from '../lib/addresses/address.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { thenCleanUp } from '../lib/clean-up.ts';
import { ExportError } from '../lib/export-error.ts';
import { localFolder } from '../core/run/homes/local-folder.ts';
import { exportPaths, pathIn } from '../places/export/export-folder.ts';
import { diskFileStore } from '../places/files/file-store.ts';
import type { CommandLine } from './command.ts';
import { openFleetBudget, readFleetLedger } from './fleet-budget.ts';
import { checkedKey, findApiKey, readApiKey } from './read-api-key.ts';
import type { Terminal } from './terminal.ts';

/** The service of a run, and where its credits are booked. */
export interface OpenService {
  readonly service: { readonly url: string; readonly apiKey: string };
  /** How calls reach it; absent where this process serves it. */
  readonly proxy?: ProxySettings | undefined;
  readonly ledger: CreditLedger;
  /** What the user should know before the first call. */
  readonly warnings?: readonly string[];
  /** Of a job with a shared database: the rate limit of all who share it, and a clock that follows it. */
  readonly pace?: SharedPace;
  readonly clock?: Clock;
  /** Who takes messages of the shared database from now on. */
  readonly tellTo?: (tell: (message: string) => void) => void;
  close(): Promise<void>;
}

export interface ServiceUse {
  /** Where the key may be, and is taken out of; of the terminal unless given. */
  readonly environment?: Record<string, string | undefined>;
  /** Aborted when the time of grace of the program is over: no database and no other process is waited for. */
  readonly abort?: AbortSignal | undefined;
}

export interface ServiceChoice extends ServiceUse {
  readonly job: Job;
  readonly terminal: Terminal;
  readonly stateDir: string | undefined;
  readonly keyFileFromFlag: boolean;
  /** Where an embedded service's credits are booked: they cost nothing, but a budget is kept as it would be. */
  readonly embeddedLedger: () => Promise<CreditLedger>;
  /** Where an embedded service keeps records that memory does not hold. */
  readonly spillDir?: string;
}

/** Opens what a job's address names: the service out there, or this program's own on local records. */
export async function openService(choice: ServiceChoice): Promise<OpenService> {
  const { job, terminal, stateDir, keyFileFromFlag, abort } = choice;
  const { url, tls } = job.service;
  if (!isEmbedded(url)) {
    const apiKey = readApiKey({
      file: job.service.apiKeyFile,
      fileFromFlag: keyFileFromFlag,
      environment: choice.environment ?? terminal.env,
      cwd: terminal.cwd(),
    });
    const proxy = proxyFromEnvironment(terminal.env);
    // Each wire makes these checks. If one fails, nothing should begin.
    proxyFor(url, proxy);
    tlsFor(url, tls);
    const { account } = job.budget;
    const budget = await openBudget(job, { apiKey, account, abort, terminal }, () =>
      diskLedger({ stateDir: stateFolder(stateDir, terminal), apiKey, account, abort }),
    );
    const ignored = ignoredProxy(url, terminal.env);
    return {
      service: { url, apiKey },
      proxy,
      ...budget,
      warnings: ignored === undefined ? [] : [ignored],
      close: () => budget.ledger.close(),
    };
  }
  const apiKey = randomBytes(16).toString('hex');
  // The HTTP server is loaded only where it is needed.
  const { startService } = await import('../practice-service.ts');
  const running = await startService({
    assets: [job.service.url.slice(embedded.length)],
    host: '127.0.0.1',
    port: 0,
    apiKeys: [apiKey],
    creditsPerCall: job.budget.creditsPerCall,
    clock: systemClock,
    ...(choice.spillDir === undefined ? {} : { spillDir: choice.spillDir }),
  });
  const booked = { apiKey: embeddedKey(job), abort, terminal };
  const budget = await openBudget(job, booked, choice.embeddedLedger).catch(async (error: unknown) => {
    await running.close();
    throw error;
  });
  return {
    service: { url: running.url, apiKey },
    ...budget,
    close: async () => {
      await budget.ledger.close();
      await running.close();
    },
  };
}

/** The shared ledger and pace, where the job names a database; else a ledger of this machine. */
async function openBudget(
  { fleet, budget }: Job,
  booked: Pick<DiskLedgerOptions, 'apiKey' | 'account' | 'abort'> & Pick<ServiceChoice, 'terminal'>,
  ownLedger: () => Promise<CreditLedger>,
): Promise<Omit<OpenService, 'service' | 'close'>> {
  if (fleet.database === undefined) return { ledger: await ownLedger() };
  const { ledger, tellTo } = await openFleetBudget(fleet.database, { ...booked, budget });
  return { ledger, pace: ledger.pace, clock: ledger.clock, tellTo };
}

/** Stands for a key in the shared ledger: each export from local records has a budget of its own. */
function embeddedKey({ output }: Job): string {
  return `${embedded}${output.dir}`;
}

/** The service of a job and its flags. What an embedded one keeps lies in the export. */
export function openServiceFor(job: Job, args: CommandLine, use: ServiceUse = {}): Promise<OpenService> {
  const dir = localFolder(job);
  return openService({
    job,
    ...use,
    terminal: args.terminal,
    stateDir: args.text('state-dir'),
    keyFileFromFlag: args.text('api-key-file') !== undefined,
    embeddedLedger: () => ledgerInExport(dir, use.abort),
    spillDir: pathIn(dir, exportPaths.embedded),
  });
}

/** The ledger of an embedded service, kept in the export so that its budget spans runs. */
async function ledgerInExport(folder: string, abort: AbortSignal | undefined): Promise<CreditLedger> {
  const runFolder = pathIn(folder, exportPaths.run);
  await diskFileStore.makeFolder(runFolder);
  return diskLedger({ stateDir: runFolder, apiKey: embedded, abort });
}

/** Reads the beginning of the records that an embedded service would answer from. @throws {ExportError} as that service */
export async function requireRecords({ service }: Job): Promise<void> {
  if (!isEmbedded(service.url)) return;
  const practice = await import('../practice-service.ts');
  await practice.requireRecordsAt(service.url.slice(embedded.length));
}

interface LookUp {
  /** Told why there is no key. */
  readonly onMissing?: (why: ExportError) => void;
  readonly environment?: Record<string, string | undefined>;
}

/**
 * What is booked for a job, read without changing it; undefined where there is no usable key to look it up by.
 */
export function bookedFor(
  job: Job,
  args: CommandLine,
  { onMissing = () => undefined, environment = args.terminal.env }: LookUp = {},
): Pick<CreditLedger, 'booked'> | undefined {
  const isLocal = isEmbedded(job.service.url);
  const apiKey = isLocal ? embedded : keyIfAny(job, args, { onMissing, environment });
  if (apiKey === undefined) return undefined;
  const { database } = job.fleet;
  const account = isLocal ? undefined : job.budget.account;
  if (database !== undefined) {
    const key = isLocal ? embeddedKey(job) : apiKey;
    return {
      booked: async (day) => {
        const read = async (which: LedgerOf) =>
          (await readFleetLedger(database, which)).find((each) => each.day === day)?.credits;
        // A run that uses an account for the first time takes over what the key has booked.
        return (await read({ apiKey: key, account })) ?? (await read({ apiKey: key })) ?? 0;
      },
    };
  }
  const stateDir = isLocal
    ? pathIn(localFolder(job), exportPaths.run)
    : stateFolder(args.text('state-dir'), args.terminal);
  return {
    booked: async (day) => {
      const { ledgerFiles } = await import('../core/client/ledger/ledger-file.ts');
      const { ledgerName } = await import('../core/client/ledger/ledger-name.ts');
      const names = [ledgerName({ apiKey }), ledgerName({ apiKey, account })];
      const days = await ledgerFiles(stateDir);
      if (!days.some((each) => each.day === day && names.includes(each.ledger))) return 0;
      const ledger = await diskLedger({ stateDir, apiKey, account });
      return thenCleanUp({ work: () => ledger.booked(day), cleanUp: [() => ledger.close()] });
    },
  };
}

/** Where the key of a job is. @throws {ExportError} `usage` when there is none, or it cannot be right */
export function keyPlace(
  { service: { url, apiKeyFile } }: Job,
  args: CommandLine,
  environment: Record<string, string | undefined>,
): string {
  const fileFromFlag = args.text('api-key-file') !== undefined;
  const found = findApiKey({
    file: apiKeyFile,
    fileFromFlag,
    environment: { ...environment },
    cwd: args.terminal.cwd(),
  });
  serviceAddress({ url, apiKey: checkedKey(found) });
  return found.place;
}

/** A plan needs no key. */
function keyIfAny(
  { service }: Job,
  args: CommandLine,
  { onMissing, environment }: Required<LookUp>,
): string | undefined {
  const fileFromFlag = args.text('api-key-file') !== undefined;
  try {
    const found = findApiKey({ file: service.apiKeyFile, fileFromFlag, environment, cwd: args.terminal.cwd() });
    return checkedKey(found);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    onMissing(error);
    return undefined;
  }
}

/** Its database is loaded where credits are booked on disk: the help of a command, and `get` from records, need none. */
async function diskLedger(options: DiskLedgerOptions): Promise<CreditLedger> {
  return (await import('../core/client/ledger/credit-ledger.ts')).openDiskLedger(options);
}

/** Where this user's ledgers are: flag, environment, XDG default. @throws {ExportError} `usage` for an address that is no folder */
export function stateFolder(flag: string | undefined, { env, cwd }: Pick<Terminal, 'env' | 'cwd'>): string {
  const chosen = flag ?? env['ASSET_EXPORT_STATE'];
  if (chosen !== undefined && chosen !== '') return resolve(cwd(), requireAddress(chosen, 'local', '--state-dir'));
  const base = env['XDG_STATE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.local', 'state') : base, 'asset-export');
}
