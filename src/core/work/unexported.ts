import type { Row } from '../records/table.ts';
import type { NoRecord } from '../client/lookups.ts';
import type { IdEntry } from '../ids/entries.ts';
import type { UnexportedOutcome } from '../records/unexported-table.ts';

/** An entry that is no row. */
export interface Unexported {
  readonly entry: IdEntry;
  /** Absent when it was not requested. */
  readonly lookup: NoRecord | undefined;
}

function unexportedOutcome({ entry, lookup }: Unexported): UnexportedOutcome {
  if (entry.state !== 'valid') return entry.state;
  return lookup?.kind ?? 'failed';
}

export function unexportedRow(unexported: Unexported, source: string): Row {
  const { entry, lookup } = unexported;
  const why = entry.state === 'duplicate' ? 'seen before' : entry.reason;
  return [entry.text, unexportedOutcome(unexported), lookup?.reason ?? why, source, entry.line];
}
