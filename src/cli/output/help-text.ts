import { type Command, type CommandEntry, type CommandFlag, commandGroups, type FlagGroup } from '../command.ts';
import type { TerminalOutput } from '../stop-signals.ts';
import { wrapText } from '../../lib/format-text.ts';

/** Where the explanations of flags begin. */
const textColumn = 28;

/** The help of one command: examples first. */
export function commandHelp(command: Command, columns: number): string {
  const width = widthFor(columns);
  const { usage, about, examples, words, groups, notes } = command;
  const shared = sharedText(groups);
  const blocks = [
    [
      'Examples:',
      ...examples.flatMap(({ line, about }) => [`  asset-export ${line}`, ...indented(wrapText(about, width - 6), 6)]),
    ],
    [...wrapText(about, width), '', ...usage.map((line) => `  asset-export ${line}`)],
    ...(words === undefined ? [] : [twoColumns(`  ${words.name}`, words.about, textColumn, width)]),
    ...groups.filter(({ shared }) => shared === undefined).map((group) => groupLines(group, width)),
    ...(shared === undefined ? [] : [wrapText(shared, width)]),
    ...(groups.length > 0 ? [] : [['Flags:', ...twoColumns('  --help, -h', 'this text', textColumn, width)]]),
    ...(notes === undefined ? [] : [wrapText(notes, width)]),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** Flags, or the fields of a job file, by their groups. */
export function groupsHelp(head: string, groups: readonly FlagGroup[], columns: number, nameOf = flagText): string {
  const width = widthFor(columns);
  const blocks = groups.map((group) => groupLines(group, width, nameOf));
  return `${[wrapText(head, width), ...blocks].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function groupLines({ title, flags }: FlagGroup, width: number, nameOf = flagText): string[] {
  return [`${title}:`, ...flags.flatMap((flag) => twoColumns(nameOf(flag), aboutFlag(flag), textColumn, width))];
}

/** One line for the flags that many commands share, and those of them that this command does not take; undefined where it shares none. */
export function sharedText(groups: readonly FlagGroup[]): string | undefined {
  const shared = groups.flatMap(({ title, flags, shared: all }) => {
    const others = all?.filter(({ name }) => !flags.some((flag) => flag.name === name)) ?? [];
    const except = others.length === 0 ? '' : ` (without ${others.map(({ name }) => `--${name}`).join(', ')})`;
    return all === undefined ? [] : [`${title}${except}`];
  });
  return shared.length === 0 ? undefined : `Shared flags (asset-export help flags): ${shared.join(', ')}.`;
}

/** The pages of docs/ that `help` prints, with `.md` where a command or the job has the name. */
export const helpPages: Readonly<Record<string, string>> = {
  buckets: 'exports in S3, Google Cloud Storage and Azure',
  cli: 'every command and flag',
  columns: 'every table and column',
  'credits.md': 'prices, budgets, and what a misbehaving service can cost',
  dialects: 'providers: addresses, methods, prices',
  'exit-codes': 'what each exit code means, and whether to run again',
  fleet: 'one export made by many machines',
  'ids.md': 'lists of ids from a collection, creator, owner or authority',
  'job.md': 'job files, id files, paths, environment variables',
  'lake.md': 'Iceberg tables of nightly exports',
  library: 'exports from a JavaScript or TypeScript program',
  nights: 'nightly exports that request only what is outdated',
  observability: 'metrics, notifications, lineage',
  operations: 'cron, systemd, containers, Kubernetes, Airflow',
  output: 'the files of an export',
  performance: 'speed, memory, threads',
  proofs: 'whether compressed assets agree with their hashes',
  questions: 'SQL for questions about an export',
  reliability: 'promises, and the test of each',
  'report.md': 'the HTML report of an export',
  service: 'the local service, for tests and demos',
  'status.md': 'watching a run',
  warehouses: 'loading into DuckDB, PostgreSQL and other databases',
};

/** The help of the program: its commands, on one screen. */
export function programHelp(commands: readonly CommandEntry[], columns: number): string {
  const width = widthFor(columns);
  const listed = Object.entries(commandGroups).flatMap(([group, title]) => [
    `${title}:`,
    ...commands
      .filter((command) => command.group === group)
      .flatMap(({ name, about }) => twoColumns(`  ${name}`, about, 14, width)),
    '',
  ]);
  return [
    'Exports the metadata of many assets to Parquet, CSV and JSONL.',
    '',
    '  asset-export <command> [flags]',
    '',
    ...listed,
    'More:',
    ...twoColumns('  <command> --help', 'its examples and flags', 20, width),
    ...twoColumns('  help flags', 'flags that commands share', 20, width),
    ...twoColumns('  help job', 'fields of a job file', 20, width),
    ...twoColumns('  help exit-codes', 'what each exit code means', 20, width),
    ...twoColumns('  help', 'this text, and all pages', 20, width),
    ...twoColumns('  --version, -V', 'version of the program', 20, width),
    '',
  ].join('\n');
}

/** A line a page. */
export function pagesHelp(columns: number): string {
  const width = widthFor(columns);
  const pages = Object.entries(helpPages).flatMap(([page, about]) => twoColumns(`  ${page}`, about, 17, width));
  return ['Pages (asset-export help PAGE):', ...pages, ''].join('\n');
}

function widthFor(columns: number): number {
  return Math.max(40, Math.min(100, columns));
}

/** Width of the terminal; 80 elsewhere. */
export function widthOf(stream: TerminalOutput): number {
  return stream.columns || 80;
}

/** `  --ids PATH` */
export function flagText({ name, value }: CommandFlag): string {
  return `  --${name}${value === undefined ? '' : ` ${value}`}`;
}

/** What a flag is for, and what holds without it. */
export function aboutFlag({ about, standard }: CommandFlag): string {
  // Long lists break into lines behind their commas.
  return standard === undefined ? about : `${about} [${standard.replaceAll(',', ', ')}]`;
}

/** @param column where the text on the right begins; it ends at `width` */
function twoColumns(left: string, right: string, column: number, width: number): string[] {
  const lines = wrapText(right, width - column);
  // A long name gets a line of its own.
  if (left.length + 2 > column) return [left, ...indented(lines, column)];
  return indented(lines, column).map((line, index) => (index === 0 ? left.padEnd(column) + line.slice(column) : line));
}

function indented(lines: readonly string[], by: number): string[] {
  return lines.map((line) => `${' '.repeat(by)}${line}`);
}
