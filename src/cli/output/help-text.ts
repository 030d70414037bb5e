import { exitCodes } from '../../lib/exit-codes.ts';
import type { Command, CommandFlag, FlagGroup } from '../command.ts';
import type { TerminalOutput } from '../terminal.ts';
import { wrapText } from '../../lib/format-text.ts';

/** Where the explanations of flags begin. */
const textColumn = 28;

/** The help of one command: examples first. */
export function commandHelp(command: Command, columns: number): string {
  const width = Math.max(40, Math.min(100, columns));
  const { usage, about, examples, words, groups, notes } = command;
  const blocks = [
    [
      'Examples:',
      ...examples.flatMap(({ line, about }) => [`  asset-export ${line}`, ...indented(wrapText(about, width - 6), 6)]),
    ],
    [...wrapText(about, width), '', ...usage.map((line) => `  asset-export ${line}`)],
    ...(words === undefined ? [] : [twoColumns(`  ${words.name}`, words.about, textColumn, width)]),
    ...groups.map(({ title, flags }) => [
      `${title}:`,
      ...flags.flatMap((flag) => twoColumns(flagText(flag), aboutFlag(flag), textColumn, width)),
    ]),
    ...(groups.length > 0 ? [] : [['Flags:', ...twoColumns('  --help, -h', 'this text', textColumn, width)]]),
    ...(notes === undefined ? [] : [wrapText(notes, width)]),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** The fields of a job file, named by their paths. */
export function jobHelp(groups: readonly FlagGroup[], columns: number): string {
  const width = Math.max(40, Math.min(100, columns));
  const blocks = groups.map(({ title, flags }) => [
    `${title}:`,
    ...flags.flatMap((field) => twoColumns(`  ${field.name}`, aboutFlag(field), textColumn, width)),
  ]);
  const head = wrapText('Fields of a job file (YAML). asset-export init writes one with comments.', width);
  return `${[head, ...blocks].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** The help of the program: its commands and exit codes. */
export function programHelp(commands: readonly { name: string; about: string }[], columns: number): string {
  const width = Math.max(40, Math.min(100, columns));
  const list = commands.flatMap(({ name, about }) => twoColumns(`  ${name}`, about, 14, width));
  const codes = Object.values(exitCodes).flatMap(({ code, meaning }) =>
    twoColumns(`  ${String(code).padStart(3)}`, meaning, 7, width),
  );
  return [
    'Exports the metadata of many assets to Parquet, CSV and JSONL.',
    '',
    '  asset-export <command> [flags]',
    '',
    'Examples:',
    '  asset-export demo',
    '  asset-export init',
    '  asset-export plan job.yaml',
    '  asset-export run job.yaml',
    '',
    'Commands:',
    ...list,
    '',
    'Flags:',
    ...twoColumns('  --help, -h', 'this text; after a command: its examples and flags', 18, width),
    ...twoColumns('  --version, -V', 'version of the program', 18, width),
    '',
    'Exit codes:',
    ...codes,
    '',
  ].join('\n');
}

/** Width of the terminal; 80 elsewhere. */
export function widthOf(stream: TerminalOutput): number {
  return stream.columns || 80;
}

/** `  --ids PATH` */
export function flagText({ name, value }: CommandFlag): string {
  return `  --${name}${value === undefined ? '' : ` ${value}`}`;
}

function aboutFlag({ about, standard }: CommandFlag): string {
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
