import { firstNight } from '../../core/job/night-names.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { ExportError } from '../../lib/export-error.ts';
import { plural } from '../../lib/format-text.ts';
import { commandLine, shownPath } from '../../lib/addresses/shown-text.ts';
import type { FinishedExport } from '../../exports/finished-export.ts';
import { textOfCell } from '../../core/records/row-block.ts';
import { isIdColumn } from '../../core/records/table.ts';
import { inTurns } from '../../places/objects/object-store.ts';
import { pathIn } from '../../places/export/export-folder.ts';
import type { HomeContext } from '../../core/run/homes/open-home.ts';
import { openHome } from '../../core/run/homes/open-home.ts';
import { openBaseOf } from './based-export.ts';
import { noCommonId } from './common-ids.ts';
import type { CheckedIds } from '../../core/run/check/check-output.ts';
import type { Fact } from '../../core/run/check/check-service.ts';

export interface CheckedBase extends Fact {
  readonly isThere: boolean;
}

/**
 * Finds the base of a job, and sees that its files are there with their sizes and that it has one of the ids.
 * @param ids undefined where they were not looked at
 * @throws {ExportError} `input`, `usage`, `damaged`
 */
export async function checkBase(
  job: Job,
  ids: Pick<CheckedIds, 'firstIds' | 'isAll'> | undefined,
  context: HomeContext,
): Promise<CheckedBase> {
  if (job.base.from === undefined) return { fact: 'none', isThere: false };
  const home = await openHome(job, context);
  // An unfinished export keeps the base that it began with.
  const begun = (await home.readManifest()) === undefined ? (await home.readProgress())?.start : undefined;
  const base = await openBaseOf(job, begun, context);
  if (base === undefined) {
    const first = firstNight(job, false);
    return { fact: 'none', isThere: false, warnings: first === undefined ? [] : [first] };
  }
  const { recordFiles } = await import('../../exports/records.ts');
  const { files, folder, manifest } = base.finished;
  const shown = shownPath(folder, process.cwd());
  await inTurns(recordFiles(base.finished), async ({ path, bytes }) => {
    const size = await files.sizeOf(pathIn(folder, path));
    if (size === bytes) return;
    const now = typeof size === 'number' ? `has ${size} bytes instead of ${bytes}` : 'is missing';
    throw new ExportError('damaged', `the base ${shown} is damaged: ${path} ${now}`, {
      todo: `Repair it (${commandLine('verify', shown, '--repair')}), or name another base with --base.`,
    });
  });
  const rows = manifest.counts.exported + manifest.counts.carried;
  const fact = { fact: `${shown}, ${plural(rows, 'asset')}`, isThere: true };
  if (
    ids === undefined ||
    ids.firstIds.length === 0 ||
    rows === 0 ||
    (await hasOne(base.finished, new Set(ids.firstIds)))
  )
    return fact;
  const message = `none of the ${ids.isAll ? '' : 'first '}${plural(ids.firstIds.length, 'id')} is in the base ${shown}`;
  if (ids.isAll) throw noCommonId(message);
  return { ...fact, warnings: [`${message}: is it that of another job?`] };
}

/** Whether an export has one of some ids among its assets. One of records alone is not read for that. */
async function hasOne(finished: FinishedExport, ids: ReadonlySet<string>): Promise<boolean> {
  const column = finished.tables.get('assets')?.columns.find(isIdColumn);
  const files = finished.filesOf('assets').filter(({ format }) => format !== 'raw');
  if (column === undefined || files.length === 0) return true;
  for (const file of files.filter(({ format }) => format === files[0]?.format))
    for await (const block of finished.blocks(file, [column]))
      for (let row = 0; row < block.rows; row += 1) if (ids.has(textOfCell(block, row) ?? '')) return true;
  return false;
}
