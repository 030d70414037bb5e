import { makeTemporary } from '../../lib/disk/on-disk.ts';
import { fileNameWarning } from '../../lib/addresses/address.ts';
import { thenCleanUp } from '../../lib/end-work.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { count } from '../../lib/format-text.ts';
import { shownPath, shownWord } from '../../lib/addresses/shown-text.ts';
import type { DiffSummary } from '../../wings/warehouse/index.ts';
import { localDisk } from '../../places/files/disk.ts';
import { absoluteAddress, bucketFlags, exportAddress, onLocalPaths, scratchFlag } from '../export-place.ts';
import type { Command, CommandLine } from '../command.ts';
import { jobFlag } from '../job-flags.ts';
import { programVersion } from '../../lib/packages/package-root.ts';
import { bytesOf } from '../flag-values.ts';
import { showWarning } from '../output/show-error.ts';

/** `diff`: compares two exports. */
export const diffCommand: Command = {
  usage: ['diff <older> <newer> [--out DIR] [flags]'],
  about:
    'Compares the assets of two complete exports and prints what was inserted, updated and deleted. With --out it writes the table changes, and the child rows of changed assets. Needs Parquet or CSV in both exports, and the package @duckdb/node-api.',
  examples: [
    { line: 'diff out/date=2026-11-20 out/date=2026-11-21', about: 'print the counts' },
    {
      line: 'diff out/date=2026-11-20 out/date=2026-11-21 --out changes/2026-11-21',
      about: 'also write the table changes, for load',
    },
  ],
  words: {
    name: '<export>',
    about: 'folders or buckets of two exports: the older one, then the newer one',
    least: 2,
    most: 2,
    is: 'export',
  },
  groups: [
    {
      title: 'Flags',
      flags: [
        { name: 'out', value: 'DIR', about: 'folder for the changes; it must be new or empty' },
        {
          name: 'memory',
          value: 'SIZE',
          about:
            'approximate memory limit, for example 500MB or 2GB; the rest goes to disk (<out>/.run, or a temporary folder without --out)',
          standard: '1GB',
        },
        jobFlag('base.ignore'),
        { name: 'exit-code', about: 'exit 3 if the exports differ' },
        ...bucketFlags,
        scratchFlag,
        { name: 'json', about: 'print one JSON object' },
      ],
    },
  ],
  notes:
    'Both exports are verified first: a damaged one ends with exit 12. The columns fetched_at and exported_at never count as a change.',
  run: (args) => run(args),
};

async function run(args: CommandLine): Promise<number> {
  const { terminal } = args;
  const cwd = terminal.cwd();
  const given = args.text('out');
  const out = given === undefined ? undefined : absoluteAddress(given, 'changes', '--out', cwd);
  const warning = out === undefined ? undefined : fileNameWarning(out);
  if (warning !== undefined) showWarning(warning, terminal);
  const memoryBytes = bytesOf(args, 'memory', leastBytes) ?? 1e9;
  const { diffExports } = await import('../../wings/warehouse/index.ts');
  const places = args.words.map((word) => exportAddress(word, cwd));
  const scratch = out === undefined ? await makeTemporary('diff') : undefined;
  const summary = await thenCleanUp({
    work: () =>
      onLocalPaths(places, args, ([from = '', to = '']) =>
        diffExports({
          files: localDisk,
          from,
          to,
          out,
          scratch,
          memoryBytes,
          ignored: ignoredOf(args),
          version: programVersion(),
        }),
      ),
    cleanUp: scratch === undefined ? [] : [() => localDisk.remove(scratch)],
  });
  const [older = '', newer = ''] = args.words.map(shownWord);
  terminal.stdout.write(
    args.isOn('json')
      ? `${JSON.stringify({ out: given ?? null, ...summary })}\n`
      : textOf(summary, older, newer, out === undefined ? undefined : shownPath(out, cwd)),
  );
  const { inserted, updated, deleted } = summary.counts;
  const differs = inserted + updated + deleted > 0;
  return differs && args.isOn('exit-code') ? exitCodes.notTolerated.code : exitCodes.complete.code;
}

function ignoredOf(args: CommandLine): readonly string[] {
  const given = args.texts('ignore').flatMap((text) => text.split(','));
  const standard = jobFlag('base.ignore').standard?.split(',') ?? [];
  return given.length === 0 ? standard : given.filter((name) => name !== '');
}

const leastBytes = 200e6;

function textOf(
  { counts, columns, uncompared }: DiffSummary,
  older: string,
  newer: string,
  out: string | undefined,
): string {
  const most = Object.entries(columns).sort(([, a], [, b]) => b - a);
  const named = most.map(([name, updates]) => `${name} ${count(updates)}`).join(' · ');
  const line = (name: string, value: number, rest = ''): string =>
    `  ${name.padEnd(10)} ${count(value)}${rest === '' ? '' : `   ${rest}`}\n`;
  const note = uncompared.length === 0 ? '' : `  not compared, as one export lacks them: ${uncompared.join(', ')}\n`;
  const written = out === undefined ? '' : `  changes in ${out}\n`;
  return `${older} → ${newer}\n${line('inserted', counts.inserted)}${line('updated', counts.updated, named)}${line('deleted', counts.deleted)}${line('unchanged', counts.unchanged)}${note}${written}`;
}
