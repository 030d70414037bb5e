import type { Row, Table } from '../assets/table.ts';
import type { EntryFate } from './part-slices.ts';

/** Every id that is not a row of `assets`, with its fate and where it was read. */
export const unexportedTable: Table = {
  name: 'unexported',
  columns: [
    { name: 'id', type: 'string', nullable: false, path: [], about: 'The text that was read.' },
    { name: 'outcome', type: 'string', nullable: false, path: [], about: 'missing, invalid, duplicate or failed.' },
    { name: 'reason', type: 'string', nullable: true, path: [], about: 'Why, in words.' },
    { name: 'source', type: 'string', nullable: false, path: [], about: 'The input it was read from.' },
    { name: 'line', type: 'int64', nullable: false, path: [], about: 'The line of that input, from 1.' },
  ],
};

export type UnexportedOutcome = 'missing' | 'invalid' | 'duplicate' | 'failed';

/** The outcome of an entry that is no row, or undefined for one that was found. */
export function unexportedOutcome({ entry, lookup }: EntryFate): UnexportedOutcome | undefined {
  if (entry.sighting !== 'valid') return entry.sighting;
  if (lookup === undefined) return 'failed';
  return lookup.kind === 'found' ? undefined : lookup.kind;
}

export function unexportedRow(fate: EntryFate, outcome: UnexportedOutcome, source: string): Row {
  const { entry, lookup } = fate;
  const why = entry.sighting === 'duplicate' ? 'seen before' : entry.reason;
  const reason = lookup === undefined || lookup.kind === 'found' ? why : lookup.reason;
  return [entry.text, outcome, reason, source, entry.line];
}
