import { exitCodes } from '../../lib/exit-codes.ts';
import type { Verification } from '../../exports/verify-export.ts';
import { byteSize, plural, printable } from '../../lib/format-text.ts';
import { limitText } from '../../places/export/export-facts.ts';
import { commandLine } from '../../lib/addresses/shown-text.ts';

/** Most names of files that are not of the export. */
const mostNames = 10;

/** With `isStrict` a file that is not of the export counts as damage. */
export function verifyExitCode({ damage, strangers }: Verification, isStrict: boolean): number {
  const isWell = damage.length === 0 && !(isStrict && strangers.length > 0);
  return isWell ? exitCodes.complete.code : exitCodes.damaged.code;
}

/** The result of `verify` for a person. */
export function verifyText(
  result: Verification,
  words: {
    /** The export as the user named it. */
    readonly shown: string;
    readonly isStrict: boolean;
    /** After a repair nothing is said of one. */
    readonly isRepaired?: boolean;
    /** The assets were sorted when the export was rebuilt: no part of it can be made again alone. */
    readonly isSorted?: boolean;
  },
): string {
  const { shown, isStrict, isRepaired = false, isSorted = false } = words;
  const { files, rows, bytes, damage, strangers, sample } = result;
  const notes = strangers.length === 0 ? '' : `  ${isStrict ? '' : 'ignored: '}${strangersText(strangers)}\n`;
  const counted = `${sample === undefined ? '' : `${limitText(sample)}: `}${plural(files, 'file')}, ${plural(rows, 'row')}, ${byteSize(bytes)}`;
  const isWell = `  ${counted}: hashes, row counts, columns and totals match the manifest\n`;
  if (verifyExitCode(result, isStrict) === 0) return `${shown}: all is well\n${isWell}${notes}`;
  if (damage.length === 0) return `${shown}: ${plural(strangers.length, 'problem')}\n${notes}${isWell}`;
  const lines = damage.map(({ path, problem }) => `  ${printable(path)}: ${printable(problem)}\n`);
  const problems = `${shown}: ${plural(damage.length, 'problem')}\n${lines.join('')}${notes}`;
  if (isRepaired) return problems;
  if (isSorted)
    return `${problems}  To fix: restore these files from a copy, or sort its source again: asset-export rebuild SOURCE --sort COLUMNS --out NEW
`;
  return `${problems}  To fix: restore these files from a copy, or repair them: ${commandLine('verify', shown, '--repair')} --job <job.yaml>\n  A repair first rebuilds what is free, then prints the cost of the rest. It spends nothing without --yes.\n`;
}

function strangersText(strangers: readonly string[]): string {
  const names = strangers.slice(0, mostNames).map(printable);
  const rest = strangers.length > mostNames ? [`and ${strangers.length - mostNames} more`] : [];
  return `${plural(strangers.length, 'file')} not part of this export: ${[...names, ...rest].join(', ')}`;
}
