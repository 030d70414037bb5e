import { assetsTable, changesTable } from '../../../../src/core/records/columns.ts';
import type { Table } from '../../../../src/core/records/table.ts';
import { sha256 } from '../../../../src/lib/hash/sha256.ts';
import type { TableNight } from '../../../../src/wings/lake/next-version.ts';
import type { addNight, TableAbout } from '../../../../src/wings/lake/table-changes.ts';

export const root = '/lakes/nightly';

export const aboutAssets: TableAbout = {
  location: `${root}/lake/assets`,
  ownLocation: undefined,
  pattern: 'date={date}',
  codec: 'zstd',
};

export const aboutChanges: TableAbout = { ...aboutAssets, location: `${root}/lake/changes` };

/** A night with two files of a table, whose content is named by a text. */
export function smallNight(
  night: string,
  content = night,
  table: Table = assetsTable,
): TableNight & Parameters<typeof addNight>[1] {
  const whole: TableNight = {
    table,
    night,
    seal: sha256(content),
    startedAtMs: Date.parse(`${night}T02:00:00Z`),
    files: [0, 1].map((part) => ({
      address: `${root}/date=${night}/parquet/${table.name}/part-0000${part}.parquet`,
      rows: 10 + part,
      bytes: 100 + content.length,
      columns: [{ id: 1, bytes: 40, values: 10 + part, nulls: 0, lower: Buffer.from('1'), upper: Buffer.from('z') }],
    })),
  };
  return { ...whole, read: async () => whole };
}

export const smallChanges = (night: string, content = night): TableNight & Parameters<typeof addNight>[1] =>
  smallNight(night, content, changesTable);

export const fiveNights = ['2026-11-20', '2026-11-21', '2026-11-22', '2026-11-23', '2026-11-24'];
