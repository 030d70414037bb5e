import { join } from 'node:path';
import { openFinished } from '../../../../src/exports/finished-export.ts';
import type { EngineName } from '../../../../src/wings/warehouse/engines.ts';
import { exportScript } from '../../../../src/wings/warehouse/scripts/export-script.ts';
import { scriptExportOf } from '../../../../src/wings/warehouse/scripts/script-export.ts';
import { assetIds, exportNight, firstNight, secondNight, thirdNight } from '../diff/two-nights.ts';

export const scriptTables = ['assets', 'creators', 'files'];

/** Three nights below a folder, each with the changes since the one before. */
export async function exportNights(folder: string, tables = 'assets,creators,files,changes'): Promise<string[]> {
  const nights: string[] = [];
  const listed = [assetIds, assetIds.filter((_, n) => n < 195 || n > 199), assetIds];
  for (const [index, record] of [firstNight, secondNight, thirdNight].entries()) {
    const flags = {
      base: nights.at(-1) ?? 'none',
      'max-age': '0d',
      'missing-after': '0d',
      ignore: 'extra.last_indexed_slot',
      tables,
      format: 'parquet,csv',
    };
    const out = join(folder, `date=2026-11-2${index}`);
    nights.push(await exportNight({ record, ids: listed[index] ?? [], flags, out }));
  }
  return nights;
}

/** A later night of 20 assets. */
export async function exportFew(folder: string): Promise<string> {
  const flags = { tables: 'assets,creators,files', format: 'parquet,csv', base: 'none' };
  const out = join(folder, 'few');
  return exportNight({ record: firstNight, ids: assetIds.slice(0, 20), flags, out });
}

/** The script of a night. */
export async function scriptOf(folder: string, engine: EngineName, prefix = ''): Promise<string> {
  const source = scriptExportOf(await openFinished(folder), engine, prefix);
  return exportScript(source, { engine, folder });
}

/** The statements of a script, as they stand apart in it. */
export function piecesOf(script: string): string[] {
  return script.split('\n\n').filter((piece) => piece.trim() !== '');
}
