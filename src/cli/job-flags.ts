import { environmentName, type JobField, jobFields } from '../job/job-fields.ts';
import { type LoadedJob, loadJob } from '../job/load-job.ts';
import type { CommandArguments, CommandFlag, CommandWords, FlagGroup } from './command.ts';

/** The job file, for commands that take one. */
export const jobWords: CommandWords = {
  name: '[job]',
  about: 'job file (YAML); flags alone do too: --ids, --url and --out',
  least: 0,
  most: 1,
};

const titles: Readonly<Record<string, string>> = {
  ids: 'Ids',
  service: 'Service',
  budget: 'Budget',
  output: 'Output',
  csv: 'CSV',
  tolerance: 'Tolerance',
};

/** Where the credits are booked. */
export const stateGroup: FlagGroup = {
  title: 'This command',
  flags: [
    {
      name: 'state-dir',
      value: 'DIR',
      about: 'folder of the credit ledgers (else the environment variable ASSET_EXPORT_STATE)',
      standard: '$XDG_STATE_HOME/asset-export',
    },
  ],
};

/** A flag for each job field, by the sections of a job file; all of them, or those named. */
export function jobFlagGroups(...only: readonly string[]): FlagGroup[] {
  const sections = [...new Set(jobFields.map(sectionOf))];
  return sections
    .filter((section) => only.length === 0 || only.includes(section))
    .map((section) => ({
      title: titles[section] ?? section,
      flags: jobFields.filter((field) => sectionOf(field) === section).map(flagOf),
    }));
}

function sectionOf({ path }: JobField): string {
  return path.split('.')[0] ?? '';
}

function flagOf(field: JobField): CommandFlag {
  const standard = standardText(field.defaultValue);
  const choices = field.choices?.join('|') ?? '';
  const named = field.value ?? (choices.length <= 12 ? choices : 'NAME');
  return {
    name: field.flag,
    ...(field.kind === 'boolean' ? {} : { value: named }),
    about:
      field.choices === undefined || named === choices
        ? field.description
        : `${field.description}: ${field.choices.join(', ')}`,
    ...(standard === undefined ? {} : { standard }),
  };
}

/** What holds when a field is not given, as one would write it; undefined when nothing does. */
export function standardText(value: unknown): string | undefined {
  if (value === undefined || value === false || (Array.isArray(value) && value.length === 0)) return undefined;
  if (value === true) return 'on';
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([name, item]) => `${name}=${String(item)}`);
    return pairs.length === 0 ? undefined : pairs.join(',');
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The job that the arguments and the environment describe; `fixed` are flags that the command sets itself. */
export function jobOf(args: CommandArguments, fixed: Readonly<Record<string, unknown>> = {}): LoadedJob {
  const [file] = args.words;
  return loadJob({
    ...(file === undefined ? {} : { file }),
    flags: Object.fromEntries(jobFields.map(({ flag }) => [flag, fixed[flag] ?? args.value(flag)])),
    environment: process.env,
    folder: process.cwd(),
  });
}

/** Said at the end of a command's help. */
export const jobNotes = `Every flag from --ids on is a field of the job file (docs/job.md) and an environment variable (--ids-per-call: ${environmentName('ids-per-call')}). A flag wins over the environment, and that over the file. Lists are repeated flags or one flag with commas.`;
