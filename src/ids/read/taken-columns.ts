import { ExportError } from '../../lib/export-error.ts';
import type { IdInput } from '../id-input.ts';
import { namesText } from './pick-column.ts';
import { readIds } from './read-ids.ts';
import { type InvalidSample, sampleText, sampling, type TakenColumn } from './reading.ts';

/** So many entries of an input show whether a guessed column holds ids. */
const entriesLookedAt = 1000;

/**
 * Reads the beginning of each input that has columns, and gives the column that its ids come from.
 * @param asked the column that the user named
 * @throws {ExportError} `input` when a column that was guessed gives no id, or the column asked for is not there
 */
export async function takenColumns(inputs: readonly IdInput[], asked: string | undefined): Promise<TakenColumn[]> {
  const taken: TakenColumn[] = [];
  for (const input of inputs) if (input.format !== 'lines') taken.push(...(await columnOf(input, asked)));
  return taken;
}

/** None for JSON strings, which need no column, and for an input without rows. */
async function columnOf(input: IdInput, asked: string | undefined): Promise<TakenColumn[]> {
  const samples: InvalidSample[] = [];
  let found: { readonly taken: TakenColumn; readonly columns: readonly string[] } | undefined;
  const blocks = readIds([input], {
    column: asked,
    enough: entriesLookedAt,
    onColumn: (taken, columns) => (found = { taken, columns }),
    onInvalid: sampling(samples),
  });
  for await (const { entries } of blocks) {
    const looked = Math.min(entries.length, entriesLookedAt);
    if (found?.taken.guessed === true && entries.validBetween(0, looked) === 0) {
      throw guessedWrong({ ...found, samples, looked });
    }
    break;
  }
  return found === undefined ? [] : [found.taken];
}

interface WrongGuess {
  readonly taken: TakenColumn;
  readonly columns: readonly string[];
  readonly samples: readonly InvalidSample[];
  /** Entries that were looked at. */
  readonly looked: number;
}

function guessedWrong({ taken, columns, samples, looked }: WrongGuess): ExportError {
  const { input, column } = taken;
  const examples = samples.map((sample) => `\n  ${sampleText(sample)}`).join('');
  const message = `${input} has no column id or mint, and the first column "${column}" has no id in ${looked} rows:${examples}`;
  return new ExportError('input', message, {
    todo: `Name the column with --id-column or ids.column. The columns are: ${namesText(columns)}.`,
    facts: { column },
  });
}
