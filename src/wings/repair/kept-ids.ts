import type { FinishedExport } from '../../exports/finished-export.ts';
import type { EntryBlock } from '../../core/ids/entries.ts';
import type { PreparedInputs } from '../../core/ids/prepare-inputs.ts';
import { EntryBlocks } from '../../core/ids/read/entry-blocks.ts';
import { reasonOfState } from '../../core/ids/why-invalid.ts';
import { idsTable } from '../../core/records/ids-table.ts';
import { textOfCell } from '../../core/records/row-block.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';

/** The inputs of an export as it kept them; undefined where it did not, or where a file of them is damaged. */
export function keptInputs(finished: FinishedExport, damaged: ReadonlySet<string>): PreparedInputs | undefined {
  const { manifest, folder } = finished;
  const files = finished.filesOf(idsTable.name);
  if (files.length !== manifest.parts || files.some(({ path }) => damaged.has(path))) return undefined;
  const path = pathIn(folder, exportPaths.ids(0));
  return {
    inputs: manifest.inputs.map(({ name }) => ({ name, path, format: 'csv', compression: 'gzip' })),
    fingerprints: manifest.inputs,
    inputBytes: manifest.inputs.reduce((sum, { bytes }) => sum + bytes, 0),
    columns: [],
    kept: () => keptBlocks(finished),
  };
}

/** The entries as they were read. Repeated ids are found again, as those of an input are. */
async function* keptBlocks(finished: FinishedExport): AsyncGenerator<EntryBlock, void, void> {
  const names = finished.manifest.inputs.map(({ name }) => name);
  let source = '';
  let blocks: EntryBlocks | undefined;
  for (const file of finished.filesOf(idsTable.name)) {
    for await (const rows of finished.blocks(file, idsTable.columns)) {
      for (let row = 0; row < rows.rows; row += 1) {
        const cell = (column: number): string => textOfCell(rows, row * rows.width + column) ?? '';
        const [name, line, id] = [cell(0), Number(cell(1)), cell(2)];
        const reason = reasonOfState(cell(3), id);
        if (blocks === undefined || name !== source) {
          if (blocks !== undefined) yield* blocks.take(true);
          blocks = new EntryBlocks(name, names.indexOf(name));
          source = name;
        }
        if (reason === undefined) blocks.addText(id, line);
        else blocks.addInvalid(id, line, reason);
        if (blocks.hasFull) yield* blocks.take();
      }
    }
  }
  if (blocks !== undefined) yield* blocks.take(true);
}
