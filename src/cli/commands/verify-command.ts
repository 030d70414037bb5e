import { systemClock } from '../../lib/clock.ts';
import type { ExportPlace } from '../../core/run/homes/export-place.ts';
import { ExportError } from '../../lib/export-error.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import { bucketFlags, exportPlace, scratchFlag } from '../export-place.ts';
import { type Command, type CommandLine, type CommandFlag, exportWords } from '../command.ts';
import { isTerminal } from '../progress/show-progress.ts';
import { fleetGroups, jobFlagGroups, stateGroup, runFlags } from '../job-flags.ts';
import type { Terminal } from '../stop-signals.ts';
import type { ShownVerifying } from '../progress/verify-progress.ts';
import { verifyExitCode, verifyText } from '../output/verify-text.ts';

const jobFile: CommandFlag = {
  name: 'job',
  value: 'FILE',
  about: 'job file with ids, service and budget for --repair (flags work too)',
};

const yesFlag: CommandFlag = { name: 'yes', about: 'with --repair: request the rest and spend the credits' };

const repairGroups = [...jobFlagGroups('ids', 'service', 'budget'), ...fleetGroups];

/** `verify`: reads every file of an export again, and makes damaged parts again when asked to. */
export const verifyCommand: Command = {
  usage: ['verify <out> [--quick] [--strict] [--json]', 'verify <out> --repair --job <job.yaml> [--yes] [flags]'],
  about:
    'Checks every file of a complete export against the manifest: size and SHA-256, rows and columns in the footers of Parquet, and the accounting identity. Files that do not belong to the export are only a note; with --strict they are an error. --repair rebuilds damaged files from other files of the export, for no credits. For the rest it prints the cost in calls and credits and stops with exit 12. With --yes it requests these ids again, within the budget.',
  examples: [
    { line: 'verify asset-export-demo', about: 'exit 0 if every file is intact, 12 if one is damaged' },
    { line: 'verify s3://bucket/nightly --quick', about: 'compare sizes and hashes without reading the files' },
    {
      line: 'verify out/export --repair --job job.yaml',
      about: 'rebuild what is free; print the cost of the rest',
    },
    { line: 'verify out/export --repair --job job.yaml --yes', about: 'also request the rest, and spend the credits' },
  ],
  words: exportWords,
  groups: [
    {
      title: 'This command',
      flags: [
        { name: 'quick', about: 'compare sizes, and in a bucket the stored SHA-256, without reading the files' },
        { name: 'strict', about: 'exit 12 also if the folder holds other files' },
        { name: 'repair', about: 'rebuild damaged files for free; print the cost of the rest' },
        yesFlag,
        jobFile,
        ...bucketFlags,
        scratchFlag,
        ...runFlags,
        ...stateGroup.flags,
      ],
    },
    ...repairGroups,
  ],
  notes: 'Flags for ids, service and budget work only with --repair.',
  run: (args) => verify(args),
};

/** Shows progress only on a terminal. */
async function showVerifying({ stderr, env }: Terminal): Promise<ShownVerifying | undefined> {
  if (!isTerminal(stderr, env)) return undefined;
  return (await import('../progress/verify-progress.ts')).verifyOnTerminal(systemClock, stderr);
}

async function verify(args: CommandLine): Promise<number> {
  if (args.isOn('repair')) return (await import('./repair.ts')).repair(args);
  refuseRepairFlags(args);
  const place = await exportPlace(args.words[0] ?? '', args);
  const { files, folder } = place;
  const { verifyExport } = await import('../../exports/verify-export.ts');
  const shown = await showVerifying(args.terminal);
  const options = {
    onProgress: shown?.onProgress,
    look: args.isOn('quick') ? (path: string) => place.store.look(path) : undefined,
  };
  const result = await verifyExport(files, folder, options).finally(() => shown?.end());
  const isStrict = args.isOn('strict');
  const exitCode = verifyExitCode(result, isStrict);
  const said = args.isOn('json')
    ? `${JSON.stringify({ folder, ok: exitCode === 0, exitCode, ...result })}\n`
    : verifyText(result, {
        shown: shownPath(folder, args.terminal.cwd()),
        isStrict,
        isSorted: result.damage.length > 0 && (await isSorted(place)),
      });
  args.terminal.stdout.write(said);
  return exitCode;
}

/** Also false where the manifest itself is damaged. */
async function isSorted({ files, folder }: ExportPlace): Promise<boolean> {
  const { readManifest } = await import('../../places/export/manifest.ts');
  const manifest = await readManifest(files, folder).catch(() => undefined);
  return manifest?.sorted !== undefined;
}

/** A job or a budget makes sense only for a repair. @throws {ExportError} `usage` */
function refuseRepairFlags(args: CommandLine): void {
  const flags = [jobFile, yesFlag, ...repairGroups.flatMap((group) => group.flags)];
  const given = flags.find(({ name }) => args.value(name) !== undefined);
  if (given === undefined) return;
  throw new ExportError('usage', `--${given.name} works only with --repair`, {
    todo: `Add --repair, or remove --${given.name}.`,
  });
}
