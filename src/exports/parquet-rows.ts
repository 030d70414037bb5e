import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { type Element, listText } from '../core/records/list-elements.ts';
import { listTableOf } from '../core/records/shape-table.ts';
import type { Cell, Column } from '../core/records/table.ts';
import { utf8Text } from '../core/records/texts.ts';

/** The rows of one row group: values in the order of the columns, as the file keeps them. */
export interface ParquetRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/**
 * Reads a Parquet file, a row group at a time, without a digit or character changed: text and decimals are bytes, 64-bit
 * integers (timestamps too) bigints. Left to itself the reader makes doubles of decimals and drops a leading byte order mark.
 * @param wanted columns to read; all unless given
 */
export async function* readParquet(
  file: AsyncBuffer,
  wanted?: readonly string[],
): AsyncGenerator<ParquetRows, void, void> {
  const metadata = withoutMeanings(await parquetMetadataAsync(file));
  const all = parquetSchema(metadata).children.map(({ element }) => element.name);
  const columns = wanted === undefined ? all : all.filter((name) => wanted.includes(name));
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    let rows: unknown[][] = [];
    await parquetRead({
      file,
      metadata,
      compressors,
      rowStart,
      rowEnd,
      columns,
      utf8: false,
      onComplete: (found) => (rows = found as unknown as unknown[][]),
    });
    yield { columns, rows };
    rowStart = rowEnd;
  }
}

/** The schema with physical types alone; what makes lists of groups stays. */
function withoutMeanings(metadata: FileMetaData): FileMetaData {
  const schema = metadata.schema.map((element) => {
    if (element.type === undefined) return element;
    const plain = { ...element };
    delete plain.logical_type;
    delete plain.converted_type;
    return plain;
  });
  return { ...metadata, schema };
}

/** The cell for a value as a Parquet file keeps it: bytes for text and decimals, bigints for 64-bit integers, arrays for lists. */
export function cellOfParquet(value: unknown, column: Column): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return safe(value);
  if (value instanceof Uint8Array)
    return column.type === 'decimal' ? safe(twosComplement(value)) : utf8Text(value, 0, value.length);
  if (Array.isArray(value)) {
    const elements = column.elements ?? listTableOf(column)?.columns.slice(2) ?? [];
    return listText(
      elements,
      value.map((element) => elementOf(element, elements)),
    );
  }
  throw new Error(`column ${column.name} holds a ${typeof value}`);
}

/** A struct without a member is a null element: every other one leaves a trace. */
function elementOf(struct: unknown, elements: readonly Column[]): Element {
  if (typeof struct !== 'object' || struct === null) return null;
  const members = struct as Readonly<Record<string, unknown>>;
  const cells = elements.map((column) => cellOfParquet(members[column.name], column));
  return cells.every((cell) => cell === null) ? null : cells;
}

/** Parquet keeps decimals as big-endian two's complement. */
function twosComplement(bytes: Uint8Array): bigint {
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
}

function safe(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}
