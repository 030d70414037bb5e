import { createDriftCounter, type DriftCount } from '../../core/records/drift.ts';
import { isTextColumn, type Table } from '../../core/records/table.ts';
import {
  type Commit,
  type Counts,
  type FileFacts,
  noCounts,
  type Notes,
  noNotes,
  noProofs,
  type ProofCounts,
  sumOf,
} from '../export/export-facts.ts';
import type { Manifest } from '../export/manifest.ts';

/** What became of the entries of committed parts. */
export function committedCounts(commits: readonly Pick<Commit, 'counts'>[]): Counts {
  return sumOf(
    noCounts,
    commits.map(({ counts }) => counts),
  );
}

export function notesOf(commits: readonly Pick<Commit, 'notes'>[]): Notes {
  return sumOf(
    noNotes,
    commits.map(({ notes }) => notes),
  );
}

/** Undefined where no row says whether it agrees with its hashes. */
export function proofsOf(parts: readonly Pick<Commit, 'proofs'>[]): ProofCounts | undefined {
  const counts = parts.flatMap(({ proofs }) => proofs ?? []);
  return counts.length === 0 ? undefined : sumOf(noProofs, counts);
}

export function driftOf(commits: readonly Pick<Commit, 'drift'>[]): DriftCount[] {
  const sums = createDriftCounter();
  for (const { drift } of commits) sums.merge(drift);
  return sums.list();
}

/** Rows and columns of a table, as the manifest has them. Every format holds the same rows: those of the first one count. */
export function tableFacts(
  table: Table,
  files: readonly FileFacts[],
  commits: readonly Pick<Commit, 'maxBytes'>[] = [],
): Manifest['tables'][string] {
  const longest = maxBytesOf(table, commits);
  const mine = files.filter((file) => file.table === table.name);
  const counted = mine.filter(({ format }) => format === mine[0]?.format);
  return {
    rows: counted.reduce((sum, { rows }) => sum + rows, 0),
    columns: table.columns.map(({ name, type, nullable, from }) => ({
      name,
      type,
      nullable,
      ...(from === undefined ? {} : { from }),
      ...(longest.has(name) ? { maxBytes: longest.get(name) } : {}),
    })),
  };
}

/** Bytes of the longest value of each text column; none where a part does not say it, as those of earlier versions. */
function maxBytesOf({ name, columns }: Table, commits: readonly Pick<Commit, 'maxBytes'>[]): Map<string, number> {
  const parts = commits.map(({ maxBytes }) => maxBytes?.[name]);
  if (parts.length === 0 || parts.includes(undefined)) return new Map();
  const texts = columns.filter(isTextColumn);
  return new Map(texts.map((column, at) => [column.name, Math.max(...parts.map((part) => part?.[at] ?? 0))]));
}
