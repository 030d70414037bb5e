import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

/** The rows of one row group: values in the order of the columns, as the file keeps them. */
export interface ParquetRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/**
 * Reads a Parquet file, a row group at a time, without a digit or character changed: text and decimals are bytes, 64-bit
 * integers (timestamps too) bigints. Left to itself the reader makes doubles of decimals and drops a leading byte order mark.
 */
export async function* readParquet(file: AsyncBuffer): AsyncGenerator<ParquetRows, void, void> {
  const metadata = withoutMeanings(await parquetMetadataAsync(file));
  const columns = parquetSchema(metadata).children.map(({ element }) => element.name);
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
