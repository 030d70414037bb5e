import { createMemoryLedger } from '../../core/client/ledger/credit-ledger.ts';
import { noBase } from '../../core/job/night-names.ts';
import { environmentName } from '../../core/job/job-fields.ts';
import { loadJob } from '../../core/job/load-job.ts';
import { fileNameWarning, requireAddress } from '../../lib/addresses/address.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { RebuiltOutput, SortOrder } from '../../wings/repair/index.ts';
import { type Command, type CommandLine, type CommandFlag, exportWords } from '../command.ts';
import { bucketFlags, exportPlace, scratchFlag } from '../export-place.ts';
import { jobFlag, jobFlagsGiven, runFlags, runSettings } from '../job-flags.ts';
import { runJob } from './run-job.ts';
import { bytesOf, countOf } from '../flag-values.ts';

/** DuckDB needs so much. */
const leastBytes = 200e6;

/** The fields of `output` that may differ from the source. */
const fields = ['formats', 'tables', 'columns', 'exclude', 'proofs'] as const;

/** `rebuild`: writes an export anew from the records that it holds. */
export const rebuildCommand: Command = {
  usage: ['rebuild <out> --out NEW [flags]'],
  about:
    'Rewrites a complete export, for no credits and without its id files: in other formats, with other tables or columns, or in larger parts. It reads the records from raw, else from a format whose tables hold all values. The fate of each id, times, calls and credits are copied from the source. To resume a killed rebuild, run it again.',
  examples: [
    { line: 'rebuild out/nightly --out out/parquet --format parquet', about: 'another format' },
    {
      line: 'rebuild out/nightly --out out/whole --tables assets,creators,attributes',
      about: 'tables that the job did not write',
    },
    { line: 'rebuild out/nightly --out out/few --join 10', about: 'few large parts out of many small ones' },
    {
      line: 'rebuild out/nightly --out out/sorted --sort collection',
      about: 'a collection lies in few row groups, which queries of it read alone',
    },
  ],
  words: exportWords,
  groups: [
    {
      title: 'Flags',
      flags: [
        { name: 'out', value: 'DIR', about: 'folder of the new export, or address in a bucket' },
        ...fields.map((name) => ofSource(`output.${name}`)),
        { name: 'join', value: 'K', about: 'make one part of K neighbouring parts', standard: '1' },
        {
          name: 'sort',
          value: 'COLUMNS',
          about:
            'sort the assets by these columns, nulls last, and then by id. The result cannot be a base or be repaired',
        },
        {
          name: 'memory',
          value: 'SIZE',
          about: 'with --sort: about how much memory sorting takes, for example 500MB or 2GB; the rest goes to disk',
          standard: '1GB',
        },
        { name: 'fresh', about: 'delete the export in --out, even a complete one, and start over' },
        ...runFlags,
        ...bucketFlags,
        scratchFlag,
      ],
    },
  ],
  notes:
    'Without a flag the formats, tables and columns are those of the source. raw can only be written from raw: in tables, an absent member and null look the same.',
  run: (args) => rebuild(args),
};

/** The flag of a field, whose standard is what the source has. */
function ofSource(path: string): CommandFlag {
  return { ...jobFlag(path), standard: 'as the source' };
}

async function rebuild(args: CommandLine): Promise<number> {
  const settings = runSettings(args);
  const join = countOf(args, 'join', { least: 1, most: 999_999 }) ?? 1;
  const out = args.text('out');
  if (out === undefined)
    throw new ExportError('usage', '--out is missing', { todo: 'Name a folder or a bucket for the new export.' });
  const warning = fileNameWarning(requireAddress(out, 'rebuilt', '--out'));
  const { openSource, rebuildExport, rebuiltJob } = await import('../../wings/repair/index.ts');
  const { folder, files } = await exportPlace(args.words[0] ?? '', args, settings.signals.abort);
  const source = await openSource(folder, files);
  const sort = await sortOf(args);
  const { dir, ...output } = outputOf(args, source.manifest.job['base.from'] !== undefined);
  const job = rebuiltJob(source, dir, output);
  return runJob(
    { job, idsFolder: '', fresh: args.isOn('fresh') },
    {
      ...settings,
      warnings: warning === undefined ? [] : [warning],
      open: { service: { url: '', apiKey: '' }, ledger: createMemoryLedger(), close: () => Promise.resolve() },
      make: (context) => rebuildExport({ source, job, join, sort, fresh: args.isOn('fresh') }, context),
    },
  );
}

/** @throws {ExportError} `usage` */
async function sortOf(args: CommandLine): Promise<SortOrder | undefined> {
  const memoryBytes = bytesOf(args, 'memory', leastBytes);
  const names = args.text('sort');
  if (names === undefined && memoryBytes !== undefined)
    throw new ExportError('usage', '--memory works only with --sort', { todo: 'Add --sort, or remove --memory.' });
  if (names === undefined) return undefined;
  const { sortColumns } = await import('../../wings/repair/index.ts');
  return { columns: sortColumns(names.split(',').map((name) => name.trim())), memoryBytes: memoryBytes ?? 1e9 };
}

/**
 * Where the new export lies, and the fields of `output` that the command line names, checked as those of a job.
 * @param isBased whether the source says how old its rows are: then the new export has to say it as well
 */
function outputOf(args: CommandLine, isBased: boolean): RebuiltOutput & { readonly dir: string } {
  const given = fields.filter((name) => args.value(jobFlag(`output.${name}`).name) !== undefined);
  const flags = { ...jobFlagsGiven(args), ids: ['-'], url: 'embedded:-', ...(isBased ? { base: noBase } : {}) };
  const environment = Object.fromEntries(
    ['out-endpoint', 'scratch'].map(environmentName).map((name) => [name, args.terminal.env[name]]),
  );
  const { output } = loadJob({ flags, environment, folder: args.terminal.cwd() }).job;
  const { dir, endpoint, scratch } = output;
  return { dir, endpoint, scratch, ...Object.fromEntries(given.map((name) => [name, output[name]])) };
}
