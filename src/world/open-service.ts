import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { homeFolder, requireAddress } from '../lib/addresses/address.ts';
import type { CreditLedger, DiskLedgerOptions, BookedDay } from '../core/client/ledger/credit-ledger.ts';
import type { SharedPace } from '../core/client/policies/shared-pace.ts';
import {
  ignoredProxy,
  proxyFor,
  proxyFromEnvironment,
  type ProxySettings,
} from '../core/client/wire/proxy-settings.ts';
import { type ServiceDialect, takesKey } from '../core/client/dialects.ts';
import type { ServiceAddressOptions } from '../core/client/wire/service-address.ts';
import { dialectOf, otherDialect } from '../core/job/job-dialect.ts';
import { embedded, isEmbedded, type Job } from '../core/job/job-schema.ts';
import { tlsFor } from '../core/job/tls-files.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { exportPaths, pathIn } from '../places/export/export-folder.ts';
import { localDisk } from '../places/files/disk.ts';
import { keyFor, ledgerKey } from './read-api-key.ts';
import type { PostgresContext, PostgresLedger } from '../wings/fleet/index.ts';
import type { LedgerOf } from '../core/client/ledger/ledger-file.ts';
import { localFolder } from '../core/run/homes/export-place.ts';
import { thenCleanUp } from '../lib/end-work.ts';
import { ExportError } from '../lib/export-error.ts';

/** The service of a run, and where its credits are booked. */
export interface OpenService {
  readonly service: ServiceAddressOptions;
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

/** Where a program finds what a job does not say. */
export interface Surroundings {
  /** The key is taken out of it. */
  readonly env: Record<string, string | undefined>;
  /** Where relative paths start. */
  readonly cwd: () => string;
  /** Takes messages of the shared database. */
  readonly tell: (message: string) => void;
}

export interface ServiceChoice extends Surroundings {
  readonly job: Job;
  readonly stateDir: string | undefined;
  readonly keyFileFromFlag: boolean;
  /** Where credits are booked, if not where the job and this user have them. */
  readonly ledger?: CreditLedger | undefined;
  /** Where an embedded service's credits are booked: they cost nothing, but a budget is kept as it would be. */
  readonly embeddedLedger: () => Promise<CreditLedger>;
  /** Aborted when the time of grace of the program is over: no database and no other process is waited for. */
  readonly abort?: AbortSignal | undefined;
  /** Where an embedded service keeps records that memory does not hold. */
  readonly spillDir?: string;
}

/** Opens what a job's address names: the service out there, or this program's own on local records. */
export function openService(choice: ServiceChoice): Promise<OpenService> {
  return isEmbedded(choice.job.service.url) ? openEmbedded(choice) : openRemote(choice);
}

async function openRemote(choice: ServiceChoice): Promise<OpenService> {
  const { job, env, cwd, tell, stateDir, keyFileFromFlag, abort } = choice;
  const { url, tls } = job.service;
  const dialect = dialectOf(job.service.dialect);
  const sources = { file: job.service.apiKeyFile, fileFromFlag: keyFileFromFlag, environment: env, cwd: cwd() };
  const apiKey = keyFor(dialect, sources);
  const whose = ledgerKey(apiKey, url);
  const proxy = proxyFromEnvironment(env);
  // Each wire makes these checks. If one fails, nothing should begin.
  proxyFor(url, proxy);
  tlsFor(url, tls);
  const { account } = job.budget;
  const ownLedger = (): Promise<CreditLedger> =>
    diskLedger({ stateDir: stateFolder(stateDir, choice), apiKey: whose, account, abort });
  const budget =
    choice.ledger === undefined
      ? await openBudget(job, { apiKey: whose, account, abort, tell }, ownLedger)
      : { ledger: choice.ledger };
  const ignored = ignoredProxy(url, env);
  return {
    service: { url, apiKey, dialect: otherDialect(job) },
    proxy,
    ...budget,
    warnings: ignored === undefined ? [] : [ignored],
    close: async () => {
      // Whoever gave a ledger closes it.
      if (choice.ledger === undefined) await budget.ledger.close();
    },
  };
}

async function openEmbedded(choice: ServiceChoice): Promise<OpenService> {
  const { job, abort, tell } = choice;
  const dialect = dialectOf(job.service.dialect);
  const { apiKey, lets } = ownKey(dialect);
  // The HTTP server is loaded only where it is needed.
  const { startService } = await import('../practice-service.ts');
  const running = await startService({
    assets: [job.service.url.slice(embedded.length)],
    host: '127.0.0.1',
    port: 0,
    ...lets,
    dialect,
    creditsPerCall: job.budget.creditsPerCall,
    clock: systemClock,
    ...(choice.spillDir === undefined ? {} : { spillDir: choice.spillDir }),
  });
  const booked = { apiKey: embeddedKey(job), abort, tell };
  const opened =
    choice.ledger === undefined ? openBudget(job, booked, choice.embeddedLedger) : { ledger: choice.ledger };
  const budget = await Promise.resolve(opened).catch(async (error: unknown) => {
    await running.close();
    throw error;
  });
  return {
    service: { url: running.url, apiKey, dialect: otherDialect(job) },
    ...budget,
    close: async () => {
      if (choice.ledger === undefined) await budget.ledger.close();
      await running.close();
    },
  };
}

/** A key for a service of this program's own, which lets in no other; none where its dialect takes none. */
export function ownKey(dialect: ServiceDialect): { apiKey: string; lets: { apiKeys?: string[] } } {
  if (!takesKey(dialect)) return { apiKey: '', lets: {} };
  const apiKey = randomBytes(16).toString('hex');
  return { apiKey, lets: { apiKeys: [apiKey] } };
}

/** The shared ledger and pace, where the job names a database; else a ledger of this machine. */
async function openBudget(
  { fleet, budget }: Job,
  booked: Pick<DiskLedgerOptions, 'apiKey' | 'account' | 'abort'> & Pick<Surroundings, 'tell'>,
  ownLedger: () => Promise<CreditLedger>,
): Promise<Omit<OpenService, 'service' | 'close'>> {
  if (fleet.database === undefined) return { ledger: await ownLedger() };
  const { ledger, tellTo } = await openFleetBudget(fleet.database, { ...booked, budget });
  return { ledger, pace: ledger.pace, clock: ledger.clock, tellTo };
}

/** Stands for a key in the shared ledger: each export from local records has a budget of its own. */
export function embeddedKey({ output }: Job): string {
  return `${embedded}${output.dir}`;
}

/** The ledger of an embedded service, kept in the export so that its budget spans runs. */
export async function ledgerInExport(folder: string, abort: AbortSignal | undefined): Promise<CreditLedger> {
  const runFolder = pathIn(folder, exportPaths.run);
  await localDisk.makeFolder(runFolder);
  return diskLedger({ stateDir: runFolder, apiKey: embedded, abort });
}

/** Its database is loaded where credits are booked on disk: the help of a command, and `get` from records, need none. */
export async function diskLedger(options: DiskLedgerOptions): Promise<CreditLedger> {
  return (await import('../core/client/ledger/credit-ledger.ts')).openDiskLedger(options);
}

/** Where this user's ledgers are: flag, environment, XDG default. @throws {ExportError} `usage` for an address that is no folder */
export function stateFolder(flag: string | undefined, { env, cwd }: Pick<Surroundings, 'env' | 'cwd'>): string {
  const chosen = flag ?? env['ASSET_EXPORT_STATE'];
  if (chosen !== undefined && chosen !== '') return resolve(cwd(), requireAddress(chosen, 'local', '--state-dir'));
  const base = env['XDG_STATE_HOME'];
  const instead = 'Name a folder for the ledger of credits with ASSET_EXPORT_STATE (or --state-dir).';
  return join(base === undefined || base === '' ? join(homeFolder(instead), '.local', 'state') : base, 'asset-export');
}

/** Opens the budget of a fleet. Its client is loaded only for a job that names a database. @throws {ExportError} */
export async function openFleetBudget(
  database: string,
  {
    apiKey,
    account,
    budget,
    abort,
    tell: first,
  }: Pick<PostgresContext, 'abort'> &
    LedgerOf & {
      readonly budget?: Job['budget'];
      /** Takes messages until `tellTo` names another. */
      readonly tell: (message: string) => void;
    },
): Promise<{
  readonly ledger: PostgresLedger;
  /** Redirects the messages of the connection. */
  readonly tellTo: (tell: (message: string) => void) => void;
}> {
  const { openPostgresLedger } = await import('../wings/fleet/index.ts');
  let tell = first;
  const { creditsPerDay, creditsPerSecond } = budget ?? {};
  const limits = { apiKey, account, creditsPerDay, creditsPerSecond };
  const ledger = await openPostgresLedger(database, {
    ...postgresContext,
    ...limits,
    abort,
    tell: (message) => {
      tell(message);
    },
  });
  return {
    ledger,
    tellTo: (other) => {
      tell = other;
    },
  };
}

/** What is booked in the database of a fleet, by ledger and day. @throws {ExportError} */
export async function readFleetLedger(database: string, which: LedgerOf): Promise<BookedDay[]> {
  const { readPostgresLedger } = await import('../wings/fleet/index.ts');
  return readPostgresLedger(database, { ...postgresContext, ...which });
}

const postgresContext: PostgresContext = { clock: systemClock, random: Math.random };

type Looked = Pick<ServiceChoice, 'env' | 'cwd' | 'stateDir' | 'keyFileFromFlag'>;

/**
 * What is booked for a job, read without changing it; undefined where there is no usable key to look it up by.
 * @param onMissing told why there is no key
 */
export function bookedFor(
  job: Job,
  looked: Looked,
  onMissing: (why: ExportError) => void = () => undefined,
): Pick<CreditLedger, 'booked'> | undefined {
  const isLocal = isEmbedded(job.service.url);
  const apiKey = isLocal ? embedded : keyIfAny(job, looked, onMissing);
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
  const stateDir = isLocal ? pathIn(localFolder(job), exportPaths.run) : stateFolder(looked.stateDir, looked);
  return {
    booked: async (day) => {
      const { ledgerFiles } = await import('../core/client/ledger/ledger-file.ts');
      const { ledgerName } = await import('../core/client/ledger/ledger-file.ts');
      const names = [ledgerName({ apiKey }), ledgerName({ apiKey, account })];
      const days = await ledgerFiles(stateDir);
      if (!days.some((each) => each.day === day && names.includes(each.ledger))) return 0;
      const ledger = await diskLedger({ stateDir, apiKey, account });
      return thenCleanUp({ work: () => ledger.booked(day), cleanUp: [() => ledger.close()] });
    },
  };
}

/** A plan needs no key. */
function keyIfAny({ service }: Job, looked: Looked, onMissing: (why: ExportError) => void): string | undefined {
  const { env: environment, cwd, keyFileFromFlag: fileFromFlag } = looked;
  try {
    const sources = { file: service.apiKeyFile, fileFromFlag, environment, cwd: cwd() };
    return ledgerKey(keyFor(dialectOf(service.dialect), sources), service.url);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    onMissing(error);
    return undefined;
  }
}
