import type { Table } from './table.ts';

/** How the reason begins of an id that stays missing and was not requested again. Later exports read it back. */
const missingPattern = /^missing since (\d{4}-\d\d-\d\d(?:T\d\d:\d\dZ)?), /;

/** The reason of an id that stays missing. @param since a day (`2026-11-20`) or a minute (`2026-11-20T02:00Z`) */
export function missingReason(since: string, rest: string): string {
  return `missing since ${since}, ${rest}`;
}

/** Since when an id is missing, in milliseconds since 1970; undefined where the reason does not say it. */
export function missingSince(reason: unknown): number | undefined {
  const [, since] = typeof reason === 'string' ? (missingPattern.exec(reason) ?? []) : [];
  const ms = since === undefined ? Number.NaN : Date.parse(since);
  return Number.isNaN(ms) ? undefined : ms;
}

/** The words of a service as a reason: in quotes where they begin as one of ours does. */
export function reasonOfService(words: string): string {
  return /^missing since /i.test(words) ? `“${words}”` : words;
}

/** What becomes of an id that is not a row. */
export const unexportedOutcomes = ['missing', 'invalid', 'duplicate', 'failed'] as const;

export type UnexportedOutcome = (typeof unexportedOutcomes)[number];

/** What is worth another request: a duplicate was exported, and an invalid text stays one. */
export const outcomesToRead: readonly UnexportedOutcome[] = ['missing', 'failed'];

export const unexportedColumns = [
  { name: 'id', type: 'string', nullable: false, path: [], about: 'The text as it was read.' },
  { name: 'outcome', type: 'string', nullable: false, path: [], about: 'missing, invalid, duplicate or failed.' },
  { name: 'reason', type: 'string', nullable: true, path: [], about: 'The reason as text.' },
  { name: 'source', type: 'string', nullable: false, path: [], about: 'The input it was read from.' },
  { name: 'line', type: 'int64', nullable: false, path: [], about: 'The line of that input, from 1.' },
] as const;

/** Every id that is not a row of `assets`, with its fate and where it was read. */
export const unexportedTable: Table = { name: 'unexported', columns: unexportedColumns };

/** Every entry of the input as it was read, in its order: what a part was requested with. */
export const idsTable: Table = {
  name: 'ids',
  columns: [
    { name: 'source', type: 'string', nullable: false, path: [], about: 'The input it was read from.' },
    { name: 'line', type: 'int64', nullable: false, path: [], about: 'The line of that input, from 1.' },
    { name: 'id', type: 'string', nullable: false, path: [], about: 'The text as it was read.' },
    {
      name: 'state',
      type: 'string',
      nullable: false,
      path: [],
      about: 'valid, duplicate, invalid, or invalid: and the reason where that does not follow from the text.',
    },
  ],
};

/** What lies beside the tables of a job, each in a folder of its name: CSV of RFC 4180, whatever the job says. */
export const idTables: readonly Table[] = [unexportedTable, idsTable];

export function isIdTable(name: string): boolean {
  return idTables.some((table) => table.name === name);
}
