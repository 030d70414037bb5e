import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve, isAbsolute, relative } from 'node:path';
import { environmentName, jobFields, type JobField, fieldText, jobJsonSchema } from '../../../core/job/job-fields.ts';
import { isEmbedded, embedded, type Job } from '../../../core/job/job-schema.ts';
import { requireAddress, type AddressUse, classifyAddress } from '../../../lib/addresses/address.ts';
import { ExportError, codeOf, messageOf } from '../../../lib/export-error.ts';
import { exitCodes } from '../../../lib/exit-codes.ts';
import { commandLine, shownPath } from '../../../lib/addresses/shown-text.ts';
import type { Command, CommandLine } from '../../command.ts';
import { jobFlagGroups, jobFlagsGiven } from '../../job-flags.ts';
import { choiceOf } from '../../flag-values.ts';
import { createInterface } from 'node:readline/promises';
import type { Terminal } from '../../stop-signals.ts';
import { Writable } from 'node:stream';
import { keyProblem } from '../../../core/client/wire/service-address.ts';
import { formats } from '../../../core/formats/sink.ts';
import { parseDocument } from 'yaml';
import { takesKey } from '../../../core/client/dialects.ts';
import { dialectOf, isDialectFile } from '../../../core/job/job-dialect.ts';
import { expandInputs } from '../../../core/ids/id-input.ts';
import { lookAtList } from '../../../core/ids/read/read-ids.ts';
import { isBucketAddress } from '../../../lib/addresses/address-kinds.ts';
import { jobTemplate, suggestedFields } from '../../../core/job/job-template.ts';
import { loadJob } from '../../../core/job/load-job.ts';
import { packageRoot } from '../../../lib/packages/package-root.ts';

const jobFile = 'job.yaml';
const keyFile = 'secrets/service-key';

/** What a new job file is made of. */
interface NewJob {
  /** The job of `jobs/` that it is a copy of. */
  readonly example?: string | undefined;
  readonly folder: string;
  /** Where relative paths of flags start. */
  readonly workingFolder: string;
  /** Values by flag, as the command line or an answer gave them. */
  readonly flags: Readonly<Record<string, unknown>>;
}

interface NewFile {
  readonly name: string;
  readonly text: string;
  readonly mode: number;
}

/** The files of a new job. @throws {ExportError} `usage` for a value that a job cannot have */
function initFiles(job: NewJob, key: string): NewFile[] {
  const settled = settledFields(job);
  const values = new Map<string, unknown>();
  for (const field of jobFields) {
    const value = job.flags[field.flag];
    if (value !== undefined) values.set(field.path, fromFolder(job, field, fieldText(field, value, job.workingFolder)));
  }
  const [top = ''] = String(values.get('output.dir') ?? suggestedFields['output.dir']).split('/');
  const ignored = [`/${dirname(keyFile)}/`, ...(top === '' || top.startsWith('.') ? [] : [`/${top}/`])];
  return [
    {
      name: jobFile,
      text: job.example === undefined ? jobTemplate(values, settled) : exampleJob(job.example, values),
      mode: 0o666,
    },
    { name: 'job.schema.json', text: `${JSON.stringify(jobJsonSchema(), undefined, 2)}\n`, mode: 0o666 },
    { name: '.gitignore', text: `${ignored.join('\n')}\n`, mode: 0o666 },
    ...(job.flags['api-key-file'] === undefined && !settled.has('service.apiKeyFile')
      ? [{ name: keyFile, text: key === '' ? '' : `${key}\n`, mode: 0o600 }]
      : []),
  ];
}

/** The jobs of `jobs/` for services. Their paths start at the folder above. */
const exampleJobs = ['nightly', 'backfill', 'spreadsheet'] as const;

/** A job of `jobs/` for a folder of its own. @param values by path, in place of its own */
function exampleJob(name: string, values: ReadonlyMap<string, unknown>): string {
  const text = readFileSync(new URL(`jobs/${name}.yaml`, packageRoot), 'utf8');
  const document = parseDocument(text.replaceAll(`jobs/${name}.yaml`, jobFile).replaceAll('../', ''));
  for (const [path, value] of new Map([['service.apiKeyFile', keyFile], ...values]))
    document.setIn(path.split('.'), value);
  return document.toString({ lineWidth: 0 });
}

/** Suggested fields that are not needed, because the named dialect has the address, or takes no key. @throws {ExportError} `usage` */
function settledFields(job: NewJob): ReadonlySet<string> {
  const { dialect: name } = requireJob(job).service;
  if (name === undefined) return new Set();
  const dialect = dialectOf(name);
  return new Set([
    ...(dialect.url === undefined ? [] : ['service.url']),
    ...(takesKey(dialect) ? [] : ['service.apiKeyFile']),
  ]);
}

/** Checks the values as `run` would. @throws {ExportError} `usage` */
function requireJob({ workingFolder, flags }: NewJob): Job {
  const standIns = Object.fromEntries(
    jobFields.flatMap(({ flag, path }) => (path in suggestedFields ? [[flag, suggestedFields[path]]] : [])),
  );
  return loadJob({ flags: { ...standIns, ...flags }, environment: {}, folder: workingFolder }).job;
}

/**
 * Looks at the lists of ids as `run` would, where they are there already.
 * @throws {ExportError} `input` for what is no list of ids, or one with several columns of ids (facts.columns)
 */
async function requireLists(job: NewJob): Promise<void> {
  if (job.flags['ids'] === undefined) return;
  const { ids } = requireJob(job);
  if (ids.from.some((from) => from === '-' || isBucketAddress(from))) return;
  const inputs = await expandInputs({ ...ids, baseDir: job.workingFolder }).catch(() => []);
  for (const input of inputs) await lookAtList(input, ids);
}

/** Writes a file unless one of its name exists; false if so. @throws {ExportError} `cannotWrite` */
function writeNewFile(folder: string, { name, text, mode }: NewFile): boolean {
  const path = join(folder, name);
  try {
    mkdirSync(dirname(path), { recursive: true, ...(mode === 0o600 ? { mode: 0o700 } : {}) });
    writeFileSync(path, text, { mode, flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw new ExportError('cannotWrite', `cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** A value whose relative paths start at the job file's folder. */
function fromFolder({ folder, workingFolder }: NewJob, { path }: JobField, value: unknown): unknown {
  const moved = (text: unknown, use: AddressUse): unknown => {
    if (typeof text !== 'string' || text.startsWith('~/')) return text;
    const address = classifyAddress(text, use);
    return address.kind !== 'path' || isAbsolute(address.text)
      ? text
      : relative(folder, resolve(workingFolder, address.text));
  };
  if (path === 'ids.from') return Array.isArray(value) ? value.map((text) => moved(text, 'ids')) : value;
  if (path === 'output.dir') return moved(value, 'out');
  if (path === 'service.apiKeyFile') return moved(value, 'local');
  if (path === 'service.dialect') return isDialectFile(String(value)) ? moved(value, 'local') : value;
  if (path !== 'service.url' || typeof value !== 'string' || !isEmbedded(value)) return value;
  return `${embedded}${String(moved(value.slice(embedded.length), 'local'))}`;
}

/** What `init` asks, by the flag that answers it. */
interface InitQuestion {
  readonly flag: string;
  readonly text: string;
  /** An empty answer is none. */
  readonly isNeeded?: boolean;
}

const questions: readonly InitQuestion[] = [
  { flag: 'ids', text: 'Files of asset ids [ids/*.txt]: ' },
  { flag: 'url', text: 'Address of the service, without /v3/<key> [https://service.example]: ' },
  { flag: 'credits-per-day', text: 'Credits per UTC day, for all runs with this key [no limit]: ' },
  { flag: 'out', text: 'Folder of the export [out/export]: ' },
  { flag: 'format', text: `Formats: ${formats.join(', ')} [parquet]: ` },
];

/**
 * Asks what no flag has answered, each question until `accept` takes the answer, and what an answer makes necessary to ask. An empty answer
 * leaves the default.
 * @param first a question that the flags make necessary
 * Resolves to the key, which is not shown while it is typed.
 */
export async function askQuestions(
  { stdin: input, stderr: output }: Pick<Terminal, 'stdin' | 'stderr'>,
  answered: readonly string[],
  accept: (flag: string, text: string) => Promise<InitQuestion | undefined>,
  first?: InitQuestion,
): Promise<string> {
  let isSecret = false;
  const shown = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (!isSecret) output.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input, output: shown, terminal: true });
  // Ctrl-C or Ctrl-D: nothing has been written yet.
  const ended = new AbortController();
  lines.once('close', () => {
    ended.abort();
  });
  const ask = (text: string): Promise<string> =>
    lines.question(text, { signal: ended.signal }).catch(() => {
      throw new ExportError('interrupted', 'stopped: nothing was written');
    });
  try {
    const open = [...(first === undefined ? [] : [first]), ...questions.filter(({ flag }) => !answered.includes(flag))];
    for (let question = open.shift(); question !== undefined; question = open.shift()) {
      const { flag, text, isNeeded = false } = question;
      const answer = (await ask(text)).trim();
      if (answer === '' && !isNeeded) continue;
      try {
        const next = answer === '' ? question : await accept(flag, answer);
        if (next !== undefined) open.unshift(next);
      } catch (error) {
        if (!(error instanceof ExportError)) throw error;
        output.write(`${error.message}\n`);
        open.unshift(question);
      }
    }
    if (answered.includes('api-key-file')) return '';
    for (;;) {
      const asked = ask('API key, not shown; empty to add it later: ');
      isSecret = true;
      const key = (await asked).trim();
      isSecret = false;
      const problem = key === '' ? undefined : keyProblem(key);
      if (problem === undefined) return key;
      output.write(`\nthe API key ${problem}\n`);
    }
  } finally {
    isSecret = false;
    shown.write('\n');
    lines.close();
  }
}

/** `init`: a commented job file and what belongs to it. */
export const initCommand: Command = {
  usage: ['init [DIR] [flags]'],
  about: `Writes ${jobFile} with comments, job.schema.json for editors, .gitignore, and ${keyFile}, which only you can read. On a terminal it asks questions. It never overwrites a file.`,
  examples: [
    { line: 'init my-export', about: 'asks for ids, address, budget, folder, formats and key' },
    {
      line: "init --yes --ids 'ids/*.txt' --url https://service.example --credits-per-day 3000000",
      about: 'asks no questions; paths are relative to the working directory',
    },
    { line: 'init sheet --example spreadsheet --ids mints.csv', about: 'a job for CSV that spreadsheets open' },
  ],
  words: { name: '[DIR]', about: 'folder to write to [.]', least: 0, most: 1 },
  groups: [
    {
      title: 'This command',
      flags: [
        { name: 'yes', about: 'ask no questions; use flags and defaults' },
        {
          name: 'example',
          value: 'NAME',
          choices: exampleJobs,
          about: 'write a job for every night, for millions of ids once, or for CSV that spreadsheets open',
        },
      ],
    },
    ...jobFlagGroups(),
  ],
  notes: 'There is no flag for the key itself. On a terminal init asks for it; otherwise the key file stays empty.',
  run: (args) => init(args),
};

async function init(args: CommandLine): Promise<number> {
  const { stdin, stdout, stderr, cwd, env } = args.terminal;
  const folder = resolve(cwd(), requireAddress(args.words[0] ?? '.', 'local', 'DIR'));
  const example = choiceOf(args, 'example', exampleJobs);
  const given: NewJob = { folder, workingFolder: cwd(), flags: jobFlagsGiven(args), example };
  const isNew = !existsSync(join(folder, jobFile));
  if (!isNew) refuseFlags(given);
  let job = withDialect(given, env[environmentName('dialect')]);
  let key = '';
  if (isNew && !args.isOn('yes') && stdin.isTTY === true && stderr.isTTY === true) {
    const settled = settledFields(job);
    const settledFlags = jobFields.filter(({ path }) => settled.has(path)).map(({ flag }) => flag);
    const ofExample = example === undefined ? [] : ['credits-per-day', 'out', 'format'];
    const answered = [...Object.keys(job.flags), ...settledFlags, ...ofExample];
    key = await askQuestions(
      { stdin, stderr },
      answered,
      async (flag, text) => {
        const changed = { ...job, flags: { ...job.flags, [flag]: text } };
        requireJob(changed);
        const next = flag === 'ids' || flag === 'id-column' ? await columnQuestion(changed) : undefined;
        job = changed;
        return next;
      },
      await columnQuestion(job),
    );
  }
  if (isNew) await requireLists(job);
  const written = new Set<string>();
  for (const file of initFiles(job, key)) {
    const shown = shownPath(join(folder, file.name), cwd());
    if (writeNewFile(folder, file)) written.add(file.name);
    const advice = file.name === '.gitignore' ? `; it should ignore ${dirname(keyFile)}/` : '';
    stdout.write(written.has(file.name) ? `wrote ${shown}\n` : `kept  ${shown}: it exists already${advice}\n`);
  }
  stdout.write(`\n${nextLines(job, written, key).join('\n')}\n`);
  return exitCodes.complete.code;
}

/** What to ask where several columns of a list hold ids. @throws {ExportError} `input` for what is no list of ids */
async function columnQuestion(job: NewJob): Promise<InitQuestion | undefined> {
  try {
    await requireLists(job);
  } catch (error) {
    if (!(error instanceof ExportError) || error.why?.kind !== 'columns') throw error;
    return { flag: 'id-column', text: `${error.message}. Column with the asset ids: `, isNeeded: true };
  }
  return undefined;
}

/** A new job names its dialect, also where the environment does. */
function withDialect(job: NewJob, dialect: string | undefined): NewJob {
  return dialect === undefined || dialect === '' ? job : { ...job, flags: { dialect, ...job.flags } };
}

/** @throws {ExportError} `usage` where flags were given for a job file that is not written again */
function refuseFlags({ folder, workingFolder, flags }: NewJob): void {
  const [flag] = Object.keys(flags);
  if (flag === undefined) return;
  const shown = shownPath(join(folder, jobFile), workingFolder);
  throw new ExportError('usage', `${shown} exists already: --${flag} would change nothing`, {
    todo: `Edit ${shown}, or name another folder: asset-export init DIR`,
  });
}

function nextLines(job: NewJob, written: ReadonlySet<string>, key: string): string[] {
  const { folder, workingFolder, flags } = job;
  const shown = (name: string): string => shownPath(join(folder, name), workingFolder);
  // Local records need no key.
  const isLocal = typeof flags['url'] === 'string' && isEmbedded(flags['url']);
  const settled = settledFields(job);
  const unset = [
    ...(flags['ids'] === undefined ? ['ids.from'] : []),
    ...(flags['url'] === undefined && !settled.has('service.url') ? ['service.url'] : []),
  ];
  const steps = [
    ...(written.has(jobFile) && unset.length > 0 ? [`set ${unset.join(' and ')} in ${shown(jobFile)}`] : []),
    ...(written.has(keyFile) && key === '' && !isLocal ? [`put the API key into ${shown(keyFile)}`] : []),
    commandLine('plan', shown(jobFile)),
    commandLine('check', shown(jobFile)),
    commandLine('run', shown(jobFile)),
  ];
  return steps.map((step, index) => `${index === 0 ? 'Next:' : '     '} ${step}`);
}
