import { resolve } from 'node:path';
import { type InvalidSample, sampleText, type TakenColumn } from '../../core/ids/read/list-form.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import { plural, printable } from '../../lib/format-text.ts';

/** What reading the ids showed, as a plan and a run report it. */
export interface IdsRead {
  readonly columns: readonly TakenColumn[];
  readonly invalidSamples: readonly InvalidSample[];
}

/** The same with paths from the working folder: those of a job file start at its folder. */
export function namedFrom<T extends IdsRead>(read: T, idsFolder: string, cwd: string): T {
  const from = (name: string): string =>
    idsFolder === cwd || isBucketAddress(name) || /^-(:|$)/.test(name)
      ? name
      : shownPath(resolve(idsFolder, name), cwd);
  return {
    ...read,
    columns: read.columns.map((column) => ({ ...column, input: from(column.input) })),
    invalidSamples: read.invalidSamples.map((sample) => ({ ...sample, at: from(sample.at) })),
  };
}

/** A glob may stand for thousands. */
const shownInputs = 3;

/** Whether a column's name says that it holds who owns or made something. */
export function isOfWallets({ column }: TakenColumn): boolean {
  return /wallet|owner|holder|authority|creator/i.test(column);
}

/** A line for each column that ids come from. */
export function columnLines(columns: readonly TakenColumn[]): string[] {
  const inputs = new Map<string, string[]>();
  for (const taken of columns) {
    const { column, guessed, input } = taken;
    const doubt = isOfWallets(taken) ? ': these look like wallets, not assets' : '';
    const choice = guessed ? ' (the only column with ids; set another with --id-column)' : '';
    const text = `"${printable(column)}"${choice}${doubt}`;
    inputs.set(text, [...(inputs.get(text) ?? []), printable(input)]);
  }
  return [...inputs].map(([column, names]) => {
    const more = names.length - shownInputs;
    const shown = names.slice(0, shownInputs).join(', ');
    return `ids of ${shown}${more > 0 ? ` and ${plural(more, 'more file')}` : ''}: column ${column}`;
  });
}

/** The first invalid ids, under a line that says what they are; nothing when there is none. */
export function invalidLines({ invalidSamples }: IdsRead): string[] {
  if (invalidSamples.length === 0) return [];
  return ['invalid ids, for example:', ...invalidSamples.map((sample) => `  ${printable(sampleText(sample))}`)];
}
