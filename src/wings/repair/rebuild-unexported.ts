import { blockOf } from '../../core/records/row-block.ts';
import type { Row } from '../../core/records/table.ts';
import { idsTable, unexportedTable } from '../../core/records/id-tables.ts';
import { notReturned } from '../../core/client/lookups.ts';
import { entriesOf, type PreparedInputs } from '../../core/ids/prepare-inputs.ts';
import { Entries } from '../../core/ids/entries.ts';
import { type DamagedExport, exportedIds, keptIfEqual } from './rebuild-files.ts';
import { IdRows, unexportedRow } from '../../core/work/flatten-batch.ts';

/**
 * Rebuilds damaged files of kept and of unexported ids from the ids themselves: an id that is not a row of `assets` was missing, unless it
 * is invalid or a duplicate. A reason that the service gave is not known here, so such a file differs and is not kept.
 * Yields the paths of the others.
 */
export async function* rebuildUnexported(
  damagedExport: DamagedExport,
  prepared: PreparedInputs,
): AsyncGenerator<string, void, void> {
  const { damaged, finished } = damagedExport;
  const wanted = finished.manifest.files.filter(
    ({ path, table }) => [idsTable.name, unexportedTable.name].includes(table) && damaged.has(path),
  );
  if (wanted.length === 0) return;
  const names = prepared.inputs.map(({ name }) => name);
  const ids = new IdRows(names);
  for await (const { part, entries } of entriesByPart(
    damagedExport,
    prepared,
    new Set(wanted.map((file) => file.part)),
  )) {
    for (const file of wanted.filter((each) => each.part === part)) {
      const isIds = file.table === idsTable.name;
      const name = isIds
        ? ({ format: 'ids', table: idsTable, part } as const)
        : ({ format: 'unexported', table: unexportedTable, part } as const);
      const block = isIds
        ? ids.of(entries)
        : blockOf(unexportedTable.columns, await unexportedRows(damagedExport, { part, entries, names }));
      if (await keptIfEqual(damagedExport, { file, name }, [block])) yield file.path;
    }
  }
}

interface PartEntries {
  readonly part: number;
  /** All of the part. */
  readonly entries: Entries;
}

/** The entries of some parts, each valid until the next one is requested. */
async function* entriesByPart(
  { finished, job }: DamagedExport,
  prepared: PreparedInputs,
  wanted: ReadonlySet<number>,
): AsyncGenerator<PartEntries, void, void> {
  const { commits, counts } = finished.manifest;
  let open = Entries.take(1024);
  // An export of no ids has one part.
  if (counts.read === 0) yield { part: 0, entries: open };
  let part = 0;
  let left = commits[0]?.counts.read ?? 0;
  for await (const block of entriesOf(job, prepared)) {
    for (let from = 0; from < block.length; ) {
      const to = Math.min(block.length, from + left);
      if (wanted.has(part)) open.append(block, from, to);
      left -= to - from;
      from = to;
      if (left > 0) continue;
      if (wanted.has(part)) yield { part, entries: open };
      open = Entries.take(1024);
      part += 1;
      left = commits[part]?.counts.read ?? Number.POSITIVE_INFINITY;
    }
  }
}

async function unexportedRows(
  damagedExport: DamagedExport,
  { part, entries, names }: PartEntries & { readonly names: readonly string[] },
): Promise<Row[]> {
  const counts = damagedExport.finished.manifest.commits[part]?.counts;
  const isComplete = counts !== undefined && counts.missing + counts.failed === 0;
  const ids = isComplete ? [] : ((await exportedIds(damagedExport, part)) ?? []);
  const rows: Row[] = [];
  let next = 0;
  for (let index = 0; index < entries.length; index += 1) {
    const isValid = entries.isValid(index);
    if (isValid && isComplete) continue;
    const entry = entries.at(index);
    // Both are in the order of the input.
    if (isValid && ids[next] === entry.text) next += 1;
    else rows.push(unexportedRow({ entry, lookup: isValid ? notReturned : undefined }, names[entry.source] ?? ''));
  }
  return rows;
}
