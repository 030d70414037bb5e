import {
  Compression,
  EnabledStatistics,
  type WriterProperties,
  WriterPropertiesBuilder,
  WriterVersion,
} from 'parquet-wasm';
import type { EncoderOptions } from '../sink.ts';

const codecs = {
  none: Compression.UNCOMPRESSED,
  snappy: Compression.SNAPPY,
  gzip: Compression.GZIP,
  zstd: Compression.ZSTD,
} as const;

/** Rows of a row group, the unit that readers skip and share out among threads. */
const rowGroupRows = 32_768;

/** A row group of wide rows ends here, encoded: it is held in memory until it is whole. */
const rowGroupBytes = 64 * 1024 * 1024;

/** A dictionary that outgrows this is given up for the rest of the row group: its values hardly repeat. */
const dictionaryBytes = 128 * 1024;

/** How the files of a table are encoded: fixed by its columns and codec, so that equal rows make equal bytes. */
export function parquetProperties({ columns, compression }: EncoderOptions): WriterProperties {
  let builder = new WriterPropertiesBuilder()
    .setWriterVersion(WriterVersion.V1)
    .setCreatedBy('asset-export version 1')
    .setCompression(codecs[compression])
    .setStatisticsEnabled(EnabledStatistics.Page)
    .setMaxRowGroupSize(rowGroupRows)
    .setMaxRowGroupBytes(rowGroupBytes)
    .setDictionaryEnabled(true)
    .setDictionaryPageSizeLimit(dictionaryBytes);
  for (const { name } of columns) {
    // An id stands in one row only.
    if (name === 'id') builder = builder.setColumnDictionaryEnabled(name, false);
  }
  return builder.build();
}
