import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { environmentName, jobFields } from '../../../core/job/job-fields.ts';
import { isEmbedded } from '../../../core/job/job-schema.ts';
import { requireAddress } from '../../../lib/addresses/address.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { exitCodes } from '../../../lib/exit-codes.ts';
import { commandLine, shownPath } from '../../../lib/addresses/shown-text.ts';
import type { Command, CommandLine } from '../../command.ts';
import { askQuestions, type InitQuestion } from './ask-questions.ts';
import {
  exampleJobs,
  initFiles,
  jobFile,
  keyFile,
  type NewJob,
  requireJob,
  requireLists,
  settledFields,
  writeNewFile,
} from './init-files.ts';
import { jobFlagGroups, jobFlagsGiven } from '../../job-flags.ts';
import { choiceOf } from '../../flag-values.ts';

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
