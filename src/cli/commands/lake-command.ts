import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import { systemClock } from '../../lib/clock.ts';
import { plural, printable } from '../../lib/format-text.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { commandLine, shownPath, shownWord } from '../../lib/addresses/shown-text.ts';
import { catalogueEngines, type CheckedLake, type Lake, type RebuildPlan } from '../../wings/lake/index.ts';
import type { Command, CommandLine } from '../command.ts';
import { absoluteAddress, bucketFlags, exportPlace } from '../export-place.ts';
import { choiceOf } from '../flag-values.ts';
import { forPeople } from '../output/show-error.ts';

/** `lake`: the Iceberg tables beside the nights of a root. */
export const lakeCommand: Command = {
  usage: [
    'lake <root> [--for ENGINE] [--json]',
    'lake <root> --publish [--location ADDRESS] [--json]',
    'lake <root> --rebuild [--location ADDRESS] [--yes] [--json]',
  ],
  about:
    'Checks the Iceberg tables that output.lake writes beside the nights: every file that a snapshot names exists with its size, every night holds what it held when it was published, and each of its tables has it. Exit 12 if not, with the command that fixes it. --publish adds the complete nights that are missing. --rebuild writes all tables anew from the nights that are there, for example after the root was moved.',
  examples: [
    { line: 'lake out/nightly', about: 'list the tables and check them' },
    { line: 'lake out/nightly --publish', about: 'publish the complete nights that are missing, in order' },
    { line: 'lake s3://bucket/nightly --for trino', about: 'print the statements for a catalogue' },
    { line: 'lake /mnt/nightly --rebuild --yes', about: 'after the root was moved: write all addresses anew' },
  ],
  words: {
    name: '<root>',
    about: 'folder or bucket of the nights: the part of output.dir before {date}',
    least: 1,
    most: 1,
    is: 'nights',
  },
  groups: [
    {
      title: 'Flags',
      flags: [
        { name: 'publish', about: 'publish every complete night that is missing, also those that ended with exit 3' },
        { name: 'rebuild', about: 'print what a rebuild would write; with --yes write it' },
        { name: 'yes', about: 'with --rebuild: write the tables' },
        {
          name: 'location',
          value: 'ADDRESS',
          about: 'with --publish of the first nights, or --rebuild: what readers use for the root',
          standard: 'the address of the root',
        },
        {
          name: 'for',
          value: 'ENGINE',
          choices: catalogueEngines,
          about: 'print what a catalogue of this engine takes, instead of the check',
        },
        ...bucketFlags,
        { name: 'json', about: 'print one JSON object' },
      ],
    },
  ],
  notes:
    'Exports are not changed, and data files are not copied. A table whose newest snapshot another program wrote is refused with exit 2; --rebuild --yes takes it back.',
  run: (args) => run(args),
};

async function run(args: CommandLine): Promise<number> {
  requireFlags(args);
  const { lakeAt } = await import('../../wings/lake/index.ts');
  const lake = lakeAt({ place: await exportPlace(args.words[0] ?? '', args), clock: systemClock });
  const shown = shownPath(lake.root, args.terminal.cwd());
  if (args.isOn('publish')) return publish(lake, shown, args);
  if (args.isOn('rebuild')) return rebuild(lake, shown, args);
  if (args.text('for') !== undefined) return printCatalogue(lake, args);
  return check(lake, shown, args);
}

/** @throws {ExportError} `usage` for flags that do not go together */
function requireFlags(args: CommandLine): void {
  const [first, second] = ['publish', 'rebuild', 'for'].filter((name) => args.value(name) !== undefined);
  if (first !== undefined && second !== undefined)
    throw new ExportError('usage', `--${first} and --${second} do not go together`, { todo: 'Give one of them.' });
  if (args.isOn('yes') && !args.isOn('rebuild'))
    throw new ExportError('usage', '--yes works only with --rebuild', { todo: 'Add --rebuild, or remove --yes.' });
  if (args.text('location') !== undefined && !args.isOn('rebuild') && !args.isOn('publish'))
    throw new ExportError('usage', '--location works only with --publish or --rebuild', {
      todo: 'Add one of them, or remove --location.',
    });
}

/** What readers use for the root: an absolute path, or an address, of other kinds too. @throws {ExportError} `usage` */
function locationIn(args: CommandLine): string | undefined {
  const text = args.text('location');
  if (text === undefined) return undefined;
  if (!/^(\/+[^/]|(?!https?:)[a-z][a-z\d+.-]*:\/\/.)/i.test(text) || /[{}]/.test(text)) {
    throw new ExportError('usage', `--location is neither an absolute path nor an address: ${shownWord(text)}`, {
      todo: 'Write where readers find the root, for example /mnt/nightly or s3://bucket/nightly.',
    });
  }
  const isOwn = text.startsWith('/') || isBucketAddress(text);
  return (isOwn ? absoluteAddress(text, 'out', '--location', args.terminal.cwd()) : text).replace(/\/+$/, '');
}

async function publish(lake: Lake, shown: string, args: CommandLine): Promise<number> {
  const { publishAll } = await import('../../wings/lake/index.ts');
  const { published, notes } = await publishAll(lake, locationIn(args));
  const { stdout } = args.terminal;
  if (args.isOn('json')) return printJson(lake, { published, notes }, args);
  for (const note of notes) tell(note, args);
  stdout.write(
    published.length === 0
      ? `${shown}: no complete night was missing in the lake.\n`
      : `${shown}: published ${plural(published.length, 'night')}: ${published.join(', ')}\n`,
  );
  return exitCodes.complete.code;
}

async function rebuild(lake: Lake, shown: string, args: CommandLine): Promise<number> {
  const { rebuildLake } = await import('../../wings/lake/index.ts');
  const isDone = args.isOn('yes');
  const plan = await rebuildLake(lake, { location: locationIn(args), isDone });
  if (args.isOn('json')) return printJson(lake, { done: isDone, ...plan }, args);
  for (const note of plan.notes) tell(note, args);
  args.terminal.stdout.write(rebuildText(plan, shown, isDone));
  return exitCodes.complete.code;
}

function rebuildText({ published, tables, address }: RebuildPlan, shown: string, isDone: boolean): string {
  const nights = published.length === 0 ? '' : ` (${published.join(', ')})`;
  const what = `${plural(tables.length, 'table')} of ${plural(published.length, 'night')}${nights}`;
  return isDone
    ? `${shown}: wrote ${what} anew, for ${address}\n`
    : `${shown}: would write ${what} anew, for ${address}\nNothing was written. Add --yes to write them.\n`;
}

function tell(note: string, { terminal }: CommandLine): void {
  terminal.stderr.write(`note: ${forPeople(note, terminal.cwd())}\n`);
}

async function printCatalogue(lake: Lake, args: CommandLine): Promise<number> {
  const { addressOfLake, catalogueText, publishedTables } = await import('../../wings/lake/index.ts');
  const engine = choiceOf(args, 'for', catalogueEngines);
  const tables = await publishedTables(lake);
  if (Object.keys(tables).length === 0) throw await noLake(lake);
  args.terminal.stdout.write(catalogueText(engine ?? 'trino', tables, await addressOfLake(lake)));
  return exitCodes.complete.code;
}

/** @throws {ExportError} `usage` where there is nothing to publish either */
async function noLake(lake: Lake): Promise<ExportError> {
  const { patternOfExports } = await import('../../wings/lake/index.ts');
  await patternOfExports(lake);
  const { root } = lake;
  return new ExportError('usage', `${root} has no lake: no table was published`, {
    todo: `Publish the complete nights: ${commandLine('lake', root, '--publish')}`,
  });
}

async function check(lake: Lake, shown: string, args: CommandLine): Promise<number> {
  const { checkLake } = await import('../../wings/lake/index.ts');
  const checked = await checkLake(lake);
  if (checked.tables.length === 0 && checked.problems.length === 0) throw await noLake(lake);
  const { code } = checked.problems.length === 0 ? exitCodes.complete : exitCodes.damaged;
  if (args.isOn('json'))
    return printJson(lake, { ok: code === exitCodes.complete.code, exitCode: code, ...checked }, args);
  args.terminal.stdout.write(forPeople(checkText(checked, { shown, root: lake.root }), args.terminal.cwd()));
  return code;
}

function checkText(
  { tables, unpublished, problems }: CheckedLake,
  { shown, root }: { readonly shown: string; readonly root: string },
): string {
  const rows = tables.map(({ name, version, nights, rows: count, files }) => [
    name,
    `v${version}`,
    plural(nights.length, 'night'),
    plural(count, 'row'),
    plural(files, 'file'),
    [...new Set([nights[0], nights.at(-1)])].join(' to '),
  ]);
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length))) ?? [];
  const lines = rows.map(
    (row) =>
      `  ${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}`,
  );
  const empty = tables.filter(({ nights }) => nights.length === 0).map(({ name }) => name);
  const left =
    empty.length === 0
      ? []
      : [
          `Without a night: ${empty.join(', ')}. No night in the lake has ${empty.length === 1 ? 'this table' : 'these tables'} any more.`,
        ];
  const missing =
    unpublished.length === 0
      ? []
      : [`Not in the lake: ${unpublished.join(', ')}. To publish: ${commandLine('lake', root, '--publish')}`];
  const wrong = problems.flatMap(({ problem, fix }) => [`  ${printable(problem)}`, `    Fix: ${fix}`]);
  const end =
    problems.length === 0 ? ['Every file exists with its size.'] : [`${plural(problems.length, 'problem')}:`, ...wrong];
  return `${[`${shown}: ${plural(tables.length, 'table')}`, ...lines, ...left, ...missing, ...end].join('\n')}\n`;
}

/** With what a catalogue needs of each table. */
async function printJson(lake: Lake, facts: object, args: CommandLine): Promise<number> {
  const { publishedTables } = await import('../../wings/lake/index.ts');
  const lakeFacts = { root: lake.root, ...facts, lake: await publishedTables(lake, 'leave out') };
  args.terminal.stdout.write(`${JSON.stringify(lakeFacts)}\n`);
  return 'exitCode' in facts ? Number(facts.exitCode) : exitCodes.complete.code;
}
