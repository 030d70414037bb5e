import { basename, dirname } from 'node:path';
import { rowFormats, type FinishedExport, openFinished } from '../../exports/finished-export.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import { ExportError } from '../../lib/export-error.ts';
import { count, plural, printable } from '../../lib/format-text.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { localDisk as files } from '../../places/files/disk.ts';
import type { HoldersSummary } from '../../wings/listing/index.ts';
import type { Command, CommandLine } from '../command.ts';
import { bucketFlags, exportPlace } from '../export-place.ts';
import { choiceOf } from '../flag-values.ts';
import { fleetGroups, jobWords, runFlags, stateGroup } from '../job-flags.ts';
import { filterFlags, listed, listFlags, listJobGroups, type MadeOfList, outOf } from './ids-command.ts';

const filters = ['collection', 'creator', 'authority'];

/** `holders`: who owns the members of a list, or the assets of an export. */
export const holdersCommand: Command = {
  usage: [
    'holders --collection ADDRESS --dialect NAME --out FILE [flags]',
    'holders --of EXPORT --out FILE [--assets] [--format parquet|csv|jsonl]',
  ],
  about:
    'Writes one row for each owner with the number of its assets, the largest owner first. The list is made and proven as ids does; with --of the rows of an export are counted, and no call is sent. Burnt assets are left out and counted.',
  examples: [
    { line: 'holders --collection <address> --dialect helius --out holders.csv', about: 'the holders of a collection' },
    { line: 'holders --of out/nightly --out holders.parquet', about: 'the holders of all assets of an export' },
  ],
  words: { ...jobWords, about: 'job file (YAML); only service, budget and fleet of it are used' },
  groups: [
    {
      title: 'What is counted',
      flags: [
        { name: 'of', value: 'EXPORT', about: 'the assets of a complete export: a folder, or an address in a bucket' },
        ...filterFlags.filter(({ name }) => [...filters, 'unverified', 'only-verified'].includes(name)),
      ],
    },
    {
      title: 'This command',
      flags: [
        {
          name: 'out',
          value: 'FILE',
          about: 'owner,assets, the largest first; .gz and .zst compress',
        },
        { name: 'assets', about: 'owner,id,name: a row for each asset' },
        {
          name: 'format',
          value: 'FORMAT',
          choices: rowFormats,
          about: rowFormats.join(', '),
          standard: 'by the ending of FILE, else csv',
        },
        ...listFlags.filter(({ name }) => name !== 'out' && name !== 'records'),
        ...runFlags,
        ...stateGroup.flags,
        ...bucketFlags,
      ],
    },
    ...listJobGroups,
    ...fleetGroups,
  ],
  notes:
    'Until the file is written, list and records are in FILE.holders/. To resume, run the same command again. A list that is not proven ends with exit 3 and writes no FILE. Its account is in FILE.json.',
  run: (args) => holders(args),
};

async function holders(args: CommandLine): Promise<number> {
  const out = outOf(args, 'list');
  const scratch = `${out}.holders`;
  const of = args.text('of');
  const filter = filters.find((name) => args.text(name) !== undefined);
  if (of !== undefined && filter !== undefined)
    throw new ExportError('usage', `--of and --${filter} were given together`, { todo: 'Name one of them.' });
  if ((await files.sizeOf(out)) === 'folder')
    throw new ExportError('usage', `--out ${out} is a folder`, { todo: 'Name a file in it.' });
  const list = pathIn(scratch, `${basename(out)}.txt`);
  const records = pathIn(scratch, 'records');
  const account = `${list}.json`;
  const isWhole = async (): Promise<boolean> =>
    !args.isOn('fresh') && typeof (await files.sizeOf(account)) === 'number' && (await hasManifest(records));
  const count = async (finished: FinishedExport): Promise<MadeOfList> => {
    const made = await written(args, { finished, out, scratch });
    if (of === undefined) await files.rename(account, `${out}.json`);
    await files.remove(scratch);
    await files.syncFolder(dirname(out));
    return made;
  };
  const then = async () => count(await openFinished(records));
  if (of === undefined && !(await isWhole())) return listed(args, { out: list, records, then });
  const place = of === undefined ? { folder: records, files } : await exportPlace(of, args);
  const { text, facts } = await count(await openFinished(place.folder, place.files));
  args.terminal.stdout.write(`${args.isOn('json') ? JSON.stringify(facts) : text}\n`);
  return 0;
}

async function hasManifest(folder: string): Promise<boolean> {
  return (await files.sizeOf(pathIn(folder, exportPaths.manifest))) !== undefined;
}

async function written(
  args: CommandLine,
  { finished, out, scratch }: { readonly finished: FinishedExport; readonly out: string; readonly scratch: string },
): Promise<MadeOfList> {
  const { writeHolders } = await import('../../wings/listing/index.ts');
  const ending = rowFormats.find((each) => out.endsWith(`.${each}`));
  const format = choiceOf(args, 'format', rowFormats) ?? ending ?? 'csv';
  const summary = await writeHolders({ finished, files, out, scratch, format, assets: args.isOn('assets') });
  return {
    text: holdersText(summary, shownPath(out, args.terminal.cwd())),
    facts: { list: undefined, file: out, ...summary },
  };
}

/** Who holds how much. */
function holdersText({ holders: owners, assets, burnt, withoutOwner, largest }: HoldersSummary, shown: string): string {
  const left = [
    ...(burnt === 0 ? [] : [`${count(burnt)} burnt`]),
    ...(withoutOwner === 0 ? [] : [`${count(withoutOwner)} without an owner`]),
  ];
  const width = count(largest[0]?.assets ?? 0).length;
  const share = (of: number): string => `${((of * 100) / Math.max(1, assets)).toFixed(1)} %`;
  return [
    `${shown}: ${plural(owners, 'holder')} of ${plural(assets, 'asset')}${left.length === 0 ? '' : `; left out: ${left.join(', ')}`}`,
    ...largest.map(
      (each) => `  ${count(each.assets).padStart(width)}  ${share(each.assets).padStart(7)}  ${printable(each.owner)}`,
    ),
  ].join('\n');
}
