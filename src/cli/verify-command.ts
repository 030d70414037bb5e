import { resolve } from 'node:path';
import { systemClock } from '../lib/clock.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import { ExportError } from '../lib/export-error.ts';
import { shownPath } from '../lib/shown-path.ts';
import { diskFileStore } from '../store/file-store.ts';
import { type Command, type CommandArguments, type CommandFlag, exportWords } from './command.ts';
import { jobFlagGroups, stateGroup } from './job-flags.ts';
import { runFlags } from './run-flags.ts';
import type { ShownVerifying } from './verify-progress.ts';
import { verifyText } from './verify-text.ts';

const jobFile: CommandFlag = {
  name: 'job',
  value: 'FILE',
  about: 'job file that names ids, service and budget for --repair; flags do too. All else is as the export was made',
};

const repairGroups = jobFlagGroups('ids', 'service', 'budget');

/** `verify`: reads every file of an export again, and makes damaged parts again when asked to. */
export const verifyCommand: Command = {
  usage: ['verify <out> [--json]', 'verify <out> --repair --job <job.yaml> [flags]'],
  about:
    'Reads every file of a complete export again: hashes, row counts, schemas and the accounting identity must agree with its manifest. With --repair, the parts with damaged files are made again, and only those: their ids are asked for once more, which costs credits within the budget.',
  examples: [
    { line: 'verify out/demo', about: 'exit 0 when all is well, 12 when something is damaged' },
    { line: 'verify out/demo --repair --job jobs/demo.yaml', about: 'make the damaged parts again' },
  ],
  words: exportWords,
  groups: [
    {
      title: 'This command',
      flags: [
        { name: 'repair', about: 'make the parts with damaged files again' },
        jobFile,
        ...runFlags,
        ...stateGroup.flags,
      ],
    },
    ...repairGroups,
  ],
  notes: 'Flags of ids, service and budget need --repair.',
  run: (args) => verify(args),
};

/** Nothing where there is no terminal: a log line for each file would say little. */
async function showVerifying(): Promise<ShownVerifying | undefined> {
  if (!process.stderr.isTTY) return undefined;
  return (await import('./verify-progress.ts')).verifyOnTerminal(systemClock, process.stderr);
}

async function verify(args: CommandArguments): Promise<number> {
  const folder = resolve(args.words[0] ?? '');
  if (args.isOn('repair')) return (await import('./repair.ts')).repair(args, folder);
  refuseRepairFlags(args);
  const { verifyExport } = await import('../pipeline/verify-export.ts');
  const shown = await showVerifying();
  const result = await verifyExport(diskFileStore, folder, { onProgress: shown?.onProgress }).finally(() =>
    shown?.end(),
  );
  const exitCode = result.damage.length === 0 ? exitCodes.complete.code : exitCodes.damaged.code;
  process.stdout.write(
    args.isOn('json')
      ? `${JSON.stringify({ folder, ok: exitCode === 0, exitCode, ...result })}\n`
      : verifyText(result, shownPath(folder, process.cwd())),
  );
  return exitCode;
}

/** Whoever gives a job or a budget means to repair. @throws {ExportError} `usage` */
function refuseRepairFlags(args: CommandArguments): void {
  const flags = [jobFile, ...repairGroups.flatMap((group) => group.flags)];
  const given = flags.find(({ name }) => args.value(name) !== undefined);
  if (given === undefined) return;
  throw new ExportError('usage', `--${given.name} needs --repair: without it verify reads files and asks for nothing`, {
    todo: `Add --repair to make damaged parts again, which costs credits, or leave --${given.name} away.`,
  });
}
