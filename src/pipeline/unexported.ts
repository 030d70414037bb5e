import type { Row, Table } from '../assets/table.ts';
import type { NoRecord } from '../client/lookups.ts';
import type { IdEntry } from './id-entry.ts';

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

/** An entry that is no row. */
export interface Unexported {
  readonly entry: IdEntry;
  /** Absent when it was not asked for. */
  readonly lookup: NoRecord | undefined;
}

export function unexportedOutcome({ entry, lookup }: Unexported): UnexportedOutcome {
  if (entry.sighting !== 'valid') return entry.sighting;
  return lookup?.kind ?? 'failed';
}

export function unexportedRow(unexported: Unexported, source: string): Row {
  const { entry, lookup } = unexported;
  const why = entry.sighting === 'duplicate' ? 'seen before' : entry.reason;
  return [entry.text, unexportedOutcome(unexported), lookup?.reason ?? why, source, entry.line];
}
