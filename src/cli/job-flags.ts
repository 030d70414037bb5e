import type { Argv, Options } from 'yargs';
import { environmentName, type JobField, jobFields } from '../job/job-fields.ts';
import { type LoadedJob, loadJob } from '../job/load-job.ts';

/** Arguments of the commands that take a job: a file, flags, or both. */
export interface JobArguments {
  readonly job?: string | undefined;
  readonly [flag: string]: unknown;
}

/** Adds the job file and a flag for each job field. */
export function withJobFlags<T>(args: Argv<T>): Argv<T & JobArguments> {
  let all: Argv = args.positional('job', { type: 'string', describe: 'job file (YAML)' });
  for (const field of jobFields) all = all.option(field.flag, optionOf(field));
  return all as unknown as Argv<T & JobArguments>;
}

/** The job that the arguments and the environment describe. */
export function jobOf(args: JobArguments): LoadedJob {
  const flags = Object.fromEntries(jobFields.map(({ flag }) => [flag, args[flag]]));
  return loadJob({
    ...(args.job === undefined ? {} : { file: args.job }),
    flags,
    environment: process.env,
    folder: process.cwd(),
  });
}

function optionOf(field: JobField): Options {
  const choices = field.choices === undefined ? '' : ` [${field.choices.join('|')}]`;
  const value = field.value === undefined ? '' : ` ${field.value}`;
  const standard = defaultText(field.defaultValue);
  return {
    type: field.kind === 'boolean' ? 'boolean' : 'string',
    ...(field.kind === 'boolean' ? {} : { requiresArg: true }),
    describe: `${field.description}${choices}${value === '' ? '' : ` (${value.trim()})`}${standard}`,
    group: `${field.path.split('.')[0] ?? ''}:`,
  };
}

function defaultText(value: unknown): string {
  if (value === undefined || value === false || (Array.isArray(value) && value.length === 0)) return '';
  if (Array.isArray(value)) return ` [default: ${value.join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([name, item]) => `${name}=${String(item)}`);
    return ` [default: ${pairs.join(',')}]`;
  }
  return ` [default: ${JSON.stringify(value).replaceAll('"', '')}]`;
}

/** Said at the end of a command's help. */
export const jobEpilogue = `Every flag is a field of the job file (docs/job.md) and an environment variable (--ids-per-call: ${environmentName('ids-per-call')}); flags win over the environment, and that over the file.`;
