import type { FinishedExport } from '../../exports/finished-export.ts';
import type { EntryBlock } from '../../core/ids/entries.ts';
import type { PreparedInputs } from '../../core/ids/prepare-inputs.ts';
import { EntryBlocks } from '../../core/ids/read/entry-blocks.ts';
import { storedEntries } from '../../core/ids/stored-entries.ts';
import { invalidState } from '../../core/ids/clean-id.ts';
import { idsTable } from '../../core/records/beside-tables.ts';
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
  let name: string | undefined;
  let blocks = new EntryBlocks('', 0);
  for (const file of finished.filesOf(idsTable.name)) {
    for await (const rows of finished.blocks(file, idsTable.columns)) {
      for (const { input, line, text, state, reason } of storedEntries(rows)) {
        if (input !== name) {
          yield* blocks.take(true);
          blocks = new EntryBlocks(input, names.indexOf(input));
          name = input;
        }
        if (state === invalidState) blocks.addInvalid(text, line, reason);
        else blocks.addText(text, line);
        if (blocks.hasFull) yield* blocks.take();
      }
    }
  }
  yield* blocks.take(true);
}
