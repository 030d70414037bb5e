import { serviceAddress } from '../core/client/wire/service-address.ts';
import { takesKey } from '../core/client/dialects.ts';
import { dialectOf } from '../core/job/job-dialect.ts';
import { embedded, isEmbedded, type Job } from '../core/job/job-schema.ts';
import { localFolder } from '../core/run/homes/export-place.ts';
import type { ExportError } from '../lib/export-error.ts';
import { exportPaths, pathIn } from '../places/export/export-folder.ts';
import { ledgerInExport, openService, type OpenService, type Surroundings } from '../world/open-service.ts';
import { checkedKey, findApiKey, keyFor } from '../world/read-api-key.ts';
import type { CommandLine } from './command.ts';
import { showWarning } from './output/show-error.ts';
import type { Terminal } from './terminal.ts';

/** The service of a job and its flags. What an embedded one keeps lies in the export. */
export function openServiceFor(
  job: Job,
  args: CommandLine,
  use: {
    /** Where the key may be, and is taken out of; of the terminal unless given. */
    readonly environment?: Record<string, string | undefined>;
    /** Aborted when the time of grace of the program is over: no database and no other process is waited for. */
    readonly abort?: AbortSignal | undefined;
  } = {},
): Promise<OpenService> {
  const dir = localFolder(job);
  return openService({
    job,
    ...lookedAround(args, use.environment),
    abort: use.abort,
    embeddedLedger: () => ledgerInExport(dir, use.abort),
    spillDir: pathIn(dir, exportPaths.embedded),
  });
}

/** Reads the beginning of the records that an embedded service would answer from. @throws {ExportError} as that service */
export async function requireRecords({ service }: Job): Promise<void> {
  if (!isEmbedded(service.url)) return;
  const practice = await import('../practice-service.ts');
  await practice.requireRecordsAt(service.url.slice(embedded.length));
}

/** Where the key of a job is; undefined where its dialect takes none. @throws {ExportError} `usage` when it cannot be right */
export function keyPlace(
  { service: { url, apiKeyFile, dialect: name } }: Job,
  args: CommandLine,
  environment: Record<string, string | undefined>,
): string | undefined {
  const fileFromFlag = args.text('api-key-file') !== undefined;
  const cwd = args.terminal.cwd();
  const sources = { file: apiKeyFile, fileFromFlag, environment: { ...environment }, cwd };
  const dialect = dialectOf(name);
  const found = takesKey(dialect) ? findApiKey(sources) : undefined;
  serviceAddress({ url, apiKey: found === undefined ? keyFor(dialect, sources) : checkedKey(found), dialect });
  return found?.place;
}

/** What a command has around it. @param env in place of the terminal's */
export function surroundings(terminal: Terminal, env: Surroundings['env'] = terminal.env): Surroundings {
  return {
    env,
    cwd: () => terminal.cwd(),
    tell: (message) => {
      showWarning(message, terminal);
    },
  };
}

/** The same, and where its flags say that key and ledger are. */
export function lookedAround(args: CommandLine, env?: Surroundings['env']) {
  const keyFileFromFlag = args.text('api-key-file') !== undefined;
  return { ...surroundings(args.terminal, env), stateDir: args.text('state-dir'), keyFileFromFlag };
}

/** What is booked for a job, as `bookedFor`, where a command looks. */
export async function bookedOf(
  job: Job,
  args: CommandLine,
  onMissing?: (why: ExportError) => void,
  env?: Surroundings['env'],
) {
  const { bookedFor } = await import('../world/open-service.ts');
  return bookedFor(job, lookedAround(args, env), onMissing);
}
