import { assetsTable } from '../../core/records/columns.ts';
import type { Format, PartCodec } from '../../core/formats/sink.ts';
import { blockOf, type RowBlock, textOfCell } from '../../core/records/row-block.ts';
import { type Column, type Row, type Table, wholeName } from '../../core/records/table.ts';
import { openTableFile, type PartOptions } from '../../core/work/part-build.ts';
import type { FinishedExport } from '../../exports/finished-export.ts';
import { recordFiles } from '../../exports/records.ts';
import { recordRowsOf, wholeRows } from '../../exports/row-batch.ts';
import { wholeLines } from '../../exports/row-readers.ts';
import { lineFeed } from '../../lib/ascii.ts';
import { unfinishedFile } from '../../places/scratch/part-file.ts';

export interface HoldersRequest extends Pick<PartOptions, 'files'> {
  readonly finished: FinishedExport;
  /** Where the file goes, on this disk, and a folder for it while it is made, which its owner removes. */
  readonly out: string;
  readonly scratch: string;
  readonly format: Exclude<Format, 'raw'>;
  /** Lists each asset with its owner, in the order of the export, in place of counts. */
  readonly assets: boolean;
}

export interface HoldersSummary {
  readonly holders: number;
  /** Assets that have an owner and are not burnt. */
  readonly assets: number;
  readonly burnt: number;
  readonly withoutOwner: number;
  readonly largest: readonly { readonly owner: string; readonly assets: number }[];
}

const named = (name: string, fieldId: number, type: Column['type'], about: string): Column => {
  return { name, fieldId, type, nullable: name === 'name', path: [], about };
};
const owner = named('owner', 1, 'string', "Owner's public key.");
const counts: Table = { name: 'holders', columns: [owner, named('assets', 2, 'int64', 'Assets that it owns.')] };
const assets: Table = {
  name: 'holders',
  columns: [owner, named('id', 2, 'string', 'Asset id.'), named('name', 3, 'string', 'Name of the asset.')],
};

const needed = ['ownership_owner', 'burnt', 'id', 'content_metadata_name'];
const mostLargest = 10;
const rowsAtOnce = 1000;

/** Counts the assets of each owner, or lists them, into one file. @throws {ExportError} `input` when the export lacks the columns */
export async function writeHolders(request: HoldersRequest): Promise<HoldersSummary> {
  const { finished, files, out, scratch, format } = request;
  const table = request.assets ? assets : counts;
  const codec: PartCodec | undefined = out.endsWith('.gz') ? 'gzip' : out.endsWith('.zst') ? 'zstd' : undefined;
  const options = { files, folder: scratch, escapeFormulas: false, csvDialect: 'rfc4180' } as const;
  const compression = codec === undefined || format === 'parquet' ? {} : { [format]: codec };
  const { file, encoder } = await openTableFile({ ...options, compression }, { format, table, part: 0 });
  try {
    const fold = new Holders();
    const write = (rows: readonly Row[]) => encoder.write(blockOf(table.columns, rows));
    for await (const owned of ownedRows(finished)) {
      const rows = owned.filter((row) => fold.add(row));
      if (request.assets && rows.length > 0)
        await write(rows.map(([of = null, , id = null, name = null]) => [of, id, name]));
    }
    const { largest, summary } = fold.end();
    for (let at = 0; !request.assets && at < largest.length; at += rowsAtOnce)
      await write(largest.slice(at, at + rowsAtOnce).map((of) => [of, fold.assetsOf(of)]));
    await encoder.end();
    const { path } = await file.finish();
    await files.rename(unfinishedFile(scratch, path), out);
    return summary;
  } finally {
    await file.discard();
  }
}

/** The fold: how many assets each owner has. */
class Holders {
  readonly #owners = new Map<string, number>();
  #assets = 0;
  #burnt = 0;
  #withoutOwner = 0;

  /** Whether the row counts. @param row the cells of `needed` */
  add([of, burnt]: readonly (string | null)[]): boolean {
    if (burnt === 'true') this.#burnt += 1;
    else if (of === undefined || of === null || of === '') this.#withoutOwner += 1;
    else {
      this.#owners.set(of, this.assetsOf(of) + 1);
      this.#assets += 1;
      return true;
    }
    return false;
  }

  assetsOf(of: string): number {
    return this.#owners.get(of) ?? 0;
  }

  /** All owners, the largest first, and then by name. */
  end(): { readonly largest: readonly string[]; readonly summary: HoldersSummary } {
    const largest = [...this.#owners.keys()].sort((a, b) => this.assetsOf(b) - this.assetsOf(a) || (a < b ? -1 : 1));
    const first = largest.slice(0, mostLargest).map((of) => ({ owner: of, assets: this.assetsOf(of) }));
    const [assets, burnt, withoutOwner] = [this.#assets, this.#burnt, this.#withoutOwner];
    return { largest, summary: { holders: largest.length, assets, burnt, withoutOwner, largest: first } };
  }
}

/** The cells of `needed` of all rows, some at a time: from tables that have these columns, else from records. */
async function* ownedRows(finished: FinishedExport): AsyncGenerator<(string | null)[][], void, void> {
  const columns = needed.flatMap((name) => assetsTable.columns.filter((column) => column.name === name));
  const written = finished.table(assetsTable.name).columns.map(wholeName);
  const tables = finished.filesOf(assetsTable.name).filter(({ format }) => format !== 'raw');
  if (tables.length > 0 && needed.every((name) => written.includes(name))) {
    for (const file of tables.filter(({ format }) => format === tables[0]?.format))
      for await (const block of finished.blocks(file, columns)) yield textsOf(block, columns, columns);
    return;
  }
  for (const file of recordFiles(finished)) {
    for await (const records of linesOf(finished.bytes(file))) {
      const rows = recordRowsOf(records);
      yield textsOf(wholeRows(rows), columns, assetsTable.columns);
      rows.release();
    }
  }
}

function textsOf(block: RowBlock, columns: readonly Column[], all: readonly Column[]): (string | null)[][] {
  const places = columns.map((column) => all.indexOf(column));
  return Array.from({ length: block.rows }, (_, row) =>
    places.map((place) => textOfCell(block, row * block.width + place)),
  );
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer[], void, void> {
  for await (const piece of wholeLines(bytes)) {
    const lines: Buffer[] = [];
    for (let at = 0; at < piece.length; ) {
      const end = piece.indexOf(lineFeed, at);
      lines.push(piece.subarray(at, end));
      at = end + 1;
    }
    for (let at = 0; at < lines.length; at += rowsAtOnce) yield lines.slice(at, at + rowsAtOnce);
  }
}
