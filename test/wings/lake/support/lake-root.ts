import { join } from 'node:path';
import { generatedId, generatedRecord } from '../../../../packages/practice-service/src/generated/generated-assets.ts';
import { localDisk } from '../../../../src/places/files/disk.ts';
import { inFolder } from '../../../../src/core/run/homes/export-place.ts';
import type { ExportOutcome } from '../../../../src/core/run/complete-export.ts';
import { type Lake, lakeAt } from '../../../../src/wings/lake/index.ts';
import { dayMs } from '../../../../src/lib/clock.ts';
import { firstNight, night, type Night } from '../../../support/nights.ts';

export const childTables = ['creators', 'authorities', 'grouping', 'collections', 'files', 'attributes'];
export const allTables = ['assets', ...childTables, 'changes'];

const all = Array.from({ length: 120 }, (_, n) => generatedId(5, n));

/** Of each night other ids are listed, and some records differ. */
export function idsOfNight(day: number): string[] {
  return all.slice(day * 5, 90 + day * 10);
}

export function recordsOfNight(day: number): string[] {
  return all.map((id, n) => {
    const record = generatedRecord(id);
    return n % 7 === day ? record.replace('"burnt":false', '"burnt":true') : record;
  });
}

/** Runs the night of a day (0 is the first) of a job that publishes. */
export function runNight(root: string, day: number, given: Partial<Night> = {}): Promise<ExportOutcome> {
  const { flags = {}, ...others } = given;
  return night({
    day,
    records: recordsOfNight(day),
    ids: idsOfNight(day),
    out: `${root}/date={date}`,
    ...others,
    flags: {
      tables: allTables.join(),
      base: day === 0 ? 'none' : `${root}/date=*`,
      'max-age': '1h',
      'max-unlisted': '100%',
      lake: 'iceberg',
      ...flags,
    },
  });
}

export function dayOf(day: number): string {
  return new Date(firstNight + day * dayMs).toISOString().slice(0, 10);
}

export const folderOf = (root: string, day: number): string => join(root, `date=${dayOf(day)}`);

export function openRoot(root: string, nowMs = firstNight + 30 * dayMs): Lake {
  return lakeAt({ place: inFolder(localDisk, root), clock: { now: () => nowMs } });
}
