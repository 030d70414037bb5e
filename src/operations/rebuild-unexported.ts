import { blockOf } from '../records/row-block.ts';
import type { Row } from '../records/table.ts';
import { unexportedTable } from '../records/unexported-table.ts';
import { notReturned } from '../client/lookups.ts';
import { entriesOf } from '../ids/mark-duplicates.ts';
import type { IdEntry } from '../ids/entries.ts';
import type { PreparedInputs } from '../ids/prepare-inputs.ts';
import { type DamagedExport, exportedIds, keptIfEqual } from './rebuild-files.ts';
import { unexportedRow } from '../work/unexported.ts';

/**
 * Rebuilds damaged files of unexported ids from the ids themselves: an id that is not a row of `assets` was missing, unless it is
 * invalid or a duplicate. A reason that the service gave is not known here, so such a file differs and is not kept.
 * Yields the paths of the others.
 */
export async function* rebuildUnexported(
  damagedExport: DamagedExport,
  prepared: PreparedInputs,
): AsyncGenerator<string, void, void> {
  const { damaged, job } = damagedExport;
  const { manifest } = damagedExport.finished;
  const wanted = new Map(
    manifest.files
      .filter(({ path, table }) => table === unexportedTable.name && damaged.has(path))
      .map((file) => [file.part, file]),
  );
  if (wanted.size === 0) return;
  let open: OpenPart | undefined;
  async function* finished(): AsyncGenerator<string, void, void> {
    const file = wanted.get(open?.part ?? -1);
    if (open === undefined || file === undefined) return;
    const { part, rows } = open;
    const name = { format: 'unexported', table: unexportedTable, part } as const;
    if (await keptIfEqual(damagedExport, { file, name }, [blockOf(unexportedTable.columns, rows)])) yield file.path;
  }
  // An export of no ids has one part.
  if (manifest.counts.read === 0) open = await openPart(damagedExport, 0);
  let number = 0;
  let part = -1;
  let end = 0;
  for await (const block of entriesOf(job, prepared)) {
    for (let index = 0; index < block.length; index += 1, number += 1) {
      if (number >= end) end += manifest.commits[++part]?.counts.read ?? Number.POSITIVE_INFINITY;
      if (!wanted.has(part)) continue;
      if (open?.part !== part) {
        yield* finished();
        open = await openPart(damagedExport, part);
      }
      const entry = block.at(index);
      if (open.isExported(entry)) continue;
      const lookup = entry.state === 'valid' ? notReturned : undefined;
      open.rows.push(unexportedRow({ entry, lookup }, prepared.inputs[entry.source]?.name ?? ''));
    }
  }
  yield* finished();
}

interface OpenPart {
  readonly part: number;
  readonly rows: Row[];
  readonly isExported: (entry: IdEntry) => boolean;
}

async function openPart(damagedExport: DamagedExport, part: number): Promise<OpenPart> {
  const counts = damagedExport.finished.manifest.commits[part]?.counts;
  const isComplete = counts !== undefined && counts.missing + counts.failed === 0;
  const ids = isComplete ? [] : ((await exportedIds(damagedExport, part)) ?? []);
  let next = 0;
  // Both are in the order of the input.
  const isNext = ({ text }: IdEntry): boolean => {
    if (ids[next] !== text) return false;
    next += 1;
    return true;
  };
  return { part, rows: [], isExported: (entry) => entry.state === 'valid' && (isComplete || isNext(entry)) };
}
