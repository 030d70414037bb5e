import type { Format } from '../core/formats/sink.ts';
import { jobFields } from '../core/job/job-fields.ts';
import type { JobInput, PartOfJob } from '../core/job/job-schema.ts';
import type { TableName } from '../core/records/columns.ts';
import { type LoadedJob, loadJob } from '../core/job/load-job.ts';
import type { ExportContext } from '../core/run/export-context.ts';
import type { RunListener } from '../core/work/run-events.ts';
import { ExportError } from '../lib/export-error.ts';
import { nearestName } from '../lib/format-text.ts';

/** What an export is made of: the fields of a job that most need; the others in `job`. */
export interface JobOptions {
  /** Files or patterns of ids. */
  readonly ids?: string | readonly string[];
  /** Base address of the service, without `/v3/<key>`. */
  readonly url?: string;
  /** Folder of the export, or its address in a bucket. */
  readonly out?: string;
  /** The key is in this file, or else in `ASSET_EXPORT_API_KEY`. */
  readonly apiKeyFile?: string;
  readonly formats?: readonly Format[];
  readonly tables?: readonly TableName[];
  readonly budget?: NonNullable<JobInput['budget']>;
  /** A job, or the path of a job file. What is named above comes before its fields. */
  readonly job?: PartOfJob | string;
  /** Environment variables; those of the process unless given. Nothing is taken out of it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where relative paths start; the working directory unless given. */
  readonly cwd?: string;
  /** Folder of this user's ledgers. */
  readonly stateDir?: string;
  readonly world?: World;
}

/** What tests and programs replace. Defaults are those of the command. */
export type World = Partial<
  Pick<
    ExportContext,
    'clock' | 'random' | 'files' | 'ledger' | 'openWire' | 'openStore' | 'stdin' | 'threads' | 'freeSpace' | 'observe'
  >
>;

export interface ExportOptions extends JobOptions {
  /** Throw away what an earlier run left. */
  readonly fresh?: boolean;
  /** Aborted: no new call begins, answers in flight are kept. */
  readonly stop?: AbortSignal;
  /** Hears what happens, as it happens. */
  readonly onEvent?: RunListener;
}

/** The members of a call that are fields of a job; those of `budget` are called as the fields are. */
export const fieldOfMember = {
  ids: 'ids.from',
  url: 'service.url',
  out: 'output.dir',
  apiKeyFile: 'service.apiKeyFile',
  formats: 'output.formats',
  tables: 'output.tables',
} as const satisfies Partial<Record<keyof JobOptions, string>>;

/** The job that options name: a file or an object, then the options, then the environment where neither says something. */
export function jobIn({ budget = {}, job, ...options }: JobOptions): LoadedJob {
  const flagOf = new Map(jobFields.map(({ path, flag }) => [path, flag]));
  const given: Readonly<Record<string, unknown>> = {
    ...Object.fromEntries(
      Object.entries(fieldOfMember).map(([member, path]) => [path, options[member as keyof typeof fieldOfMember]]),
    ),
    ...Object.fromEntries(Object.entries(budget).map(([name, value]) => [`budget.${name}`, value])),
  };
  const flags: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(given)) {
    const flag = flagOf.get(path);
    if (flag === undefined) throw new ExportError('usage', `${path} is not a field of a job`);
    if (value === undefined) continue;
    flags[flag] = path === 'budget.overrun' && Array.isArray(value) ? value.join(',') : value;
  }
  const source = typeof job === 'string' ? { file: job } : job === undefined ? {} : { job };
  const { env = process.env, cwd = process.cwd() } = options;
  return loadJob({ ...source, flags, environment: env, folder: cwd });
}

export const jobMembers = ['url', 'apiKeyFile', 'budget', 'job', 'env', 'cwd', 'stateDir', 'world'];
export const exportMembers = ['ids', 'out', 'formats', 'tables', ...jobMembers, 'fresh', 'stop', 'onEvent'];

/** A misspelt name would leave a limit out. @throws {ExportError} `usage` */
export function requireMembers(options: object, known: readonly string[]): void {
  const wrong = Object.keys(options).find((name) => !known.includes(name));
  if (wrong === undefined) return;
  const near = nearestName(wrong, known);
  const todo =
    wrong === 'sinks'
      ? 'Write your format from readRows({ out, table }) when the export is complete.'
      : 'Fields of a job that have no member of their own go into job.';
  throw new ExportError('usage', `unknown member ${wrong}${near === undefined ? '' : `; did you mean ${near}?`}`, {
    todo,
  });
}

/** Where the key and the ledger of options are looked for. */
export function lookedIn({ apiKeyFile, env = process.env, cwd = process.cwd(), stateDir }: Omit<JobOptions, 'ids'>) {
  // The key is taken out of a copy.
  return { env: { ...env }, cwd: () => cwd, stateDir, keyFileFromFlag: apiKeyFile !== undefined };
}
