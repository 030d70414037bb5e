import { removedWords } from '../core/job/removed-words.ts';
import { ExportError } from '../lib/export-error.ts';
import { nearestName } from '../lib/format-text.ts';
import { shownWord } from '../lib/addresses/shown-text.ts';
import type { CommandEntry } from './command.ts';

/** The command of a name. @param topics other names that `help` takes @throws {ExportError} `usage`, with the name that was probably meant */
export function commandNamed(
  commands: readonly CommandEntry[],
  name: string,
  topics: readonly string[] = [],
): CommandEntry {
  const found = commands.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  const todo = /^fin(ali[sz]e|ish)$/.test(name)
    ? 'asset-export work job.yaml completes an export whose slices are done.'
    : 'Commands and pages of the docs: asset-export help';
  if (name.startsWith('-')) {
    const flag = name.replace(/^-+/, '');
    const known = Object.hasOwn(otherFlags, flag) ? otherFlags[flag] : undefined;
    const why = known === undefined ? `: the command comes first, as in asset-export run ${shownWord(name)} …` : '';
    throw new ExportError('usage', `unexpected flag ${shownWord(name)}${why}`, { todo: known ?? todo });
  }
  const names = [...commands.map((entry) => entry.name), ...topics];
  const near = nearestName(name, names) ?? nearestName(name, Object.keys(otherCommands));
  const guess = near === undefined || names.includes(near) ? near : otherCommands[near];
  const meant = guess === undefined ? '' : `; did you mean ${guess}?`;
  throw new ExportError('usage', `unknown command: ${shownWord(name)}${meant}`, { todo });
}

/** What other tools call a command of this one. */
export const otherCommands: Readonly<Record<string, string>> = {
  balance: 'credits',
  budget: 'credits',
  clean: 'prune',
  compare: 'diff',
  config: 'init',
  continue: 'run',
  convert: 'rebuild',
  cost: 'plan',
  create: 'init',
  delete: 'prune',
  doc: 'help',
  docs: 'help',
  'dry-run': 'rehearse',
  estimate: 'plan',
  export: 'run',
  fetch: 'get',
  finalise: 'work',
  finalize: 'work',
  finish: 'work',
  fix: 'verify',
  gc: 'prune',
  import: 'load',
  info: 'status',
  inspect: 'status',
  list: 'status',
  log: 'status',
  man: 'help',
  manual: 'help',
  logs: 'status',
  ls: 'status',
  mock: 'serve',
  new: 'init',
  repair: 'verify',
  resume: 'run',
  retry: 'run',
  rm: 'prune',
  server: 'serve',
  setup: 'init',
  show: 'status',
  start: 'run',
  sync: 'run',
  test: 'rehearse',
  usage: 'credits',
  validate: 'verify',
  worker: 'work',
};

const key = 'There is no flag for the key: --api-key-file FILE names a file with it, or set ASSET_EXPORT_API_KEY.';
const less =
  'Messages go to stderr: redirect it (2>run.log). --log-level error logs errors alone, where there is no terminal.';
const more = 'Where there is no terminal, --log-level debug logs more.';
const dry =
  'asset-export plan prints the bill and sends nothing; asset-export rehearse is a dry run with generated records.';
const again = 'The same command resumes an export. --fresh starts it over.';
const list = 'The ids are named by --ids, or by ids.from in the job file.';
const file = 'The job file is the first word: asset-export run job.yaml';
const many = '--concurrency is the number of calls in flight, --threads that of worker threads.';

/** What does here what a flag does in other tools. Used where the command has no such flag. */
export const otherFlags: Readonly<Record<string, string>> = {
  'api-key': key,
  c: file,
  config: file,
  debug: more,
  'dry-run': dry,
  dryrun: dry,
  f: '--format names the formats: --format csv,parquet. The job file is the first word.',
  file: list,
  force: again,
  history:
    'Write asset-export schema --for duckdb --nights PATTERN: asset-export help questions has the query of versions over these views.',
  i: list,
  input: list,
  j: many,
  jobs: many,
  key,
  limit: 'To export a part of the ids, give a shorter file: head -n 1000 ids.txt > some.txt',
  n: dry,
  nested: removedWords['nested'] ?? '',
  o: '--out names the folder or the bucket.',
  output: '--out names the folder or the bucket.',
  'output-dir': '--out names the folder or the bucket.',
  overwrite: again,
  parallel: many,
  password: 'The password of a database is in PGPASSWORD or PGPASSFILE.',
  q: less,
  quiet: less,
  'rate-limit': '--credits-per-second is the rate limit; --concurrency is the number of calls in flight.',
  resume: again,
  s: less,
  sample: removedWords['sample'] ?? '',
  silent: less,
  sql: 'Write asset-export schema --of EXPORT --for NAME: it prints the script that loads the export.',
  timeout: '--timeout-ms is the time limit of a call.',
  token: key,
  v: `asset-export --version prints the version. ${more}`,
  verbose: more,
  version: 'asset-export --version prints the version.',
  wallet: '--owner ADDRESS lists what a wallet owns: asset-export ids --owner ADDRESS --out list.txt',
  watch: 'asset-export status DIR --watch shows the progress of a run.',
  workers: many,
  y: '--yes answers yes, where a command asks.',
};
