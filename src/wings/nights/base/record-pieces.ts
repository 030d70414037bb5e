import { assetsTable } from '../../../core/records/columns.ts';
import type { FinishedExport, ManifestFile } from '../../../exports/finished-export.ts';
import { RecordTexts } from '../../../exports/record-text.ts';
import { recordFiles } from '../../../exports/records.ts';
import { splitLines } from '../../../lib/scan/split-lines.ts';
import { requireIntact } from './read-base-keys.ts';

/** Consecutive records of a base, good until the next ones are read. */
interface RecordPiece {
  readonly count: number;
  at(index: number): Buffer;
}

/** All records of a base in their order. */
export async function* recordPieces(finished: FinishedExport): AsyncGenerator<RecordPiece, void, void> {
  for (const file of recordFiles(finished)) yield* recordsIn(finished, file);
}

/** The records of a file in their order. A record of a table is made when it is looked at. @throws {ExportError} `damaged` */
export async function* recordsIn(
  finished: FinishedExport,
  file: ManifestFile,
): AsyncGenerator<RecordPiece, void, void> {
  await requireIntact(finished, file);
  if (file.format === 'raw') {
    for await (const lines of linesOf(finished.bytes(file))) {
      yield { count: lines.length, at: (index) => lines[index] ?? Buffer.alloc(0) };
    }
    return;
  }
  for await (const block of finished.blocks(file, assetsTable.columns)) {
    const texts = new RecordTexts(block);
    yield { count: block.rows, at: (index) => texts.of(index) };
  }
}

/** The lines of a file without their ends, as copies. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer[], void, void> {
  let found: Buffer[] = [];
  const lines = splitLines({
    longest: 256 << 20,
    onLine: ({ bytes: line, start, end }) => {
      if (end > start) found.push(Buffer.from(line.subarray(start, end)));
    },
  });
  for await (const piece of bytes) {
    lines.push(piece);
    yield found;
    found = [];
  }
  lines.end();
  yield found;
}
