import type { Job } from '../job/job-schema.ts';
import type { Compression, Format } from '../sinks/sink.ts';

/** Bytes an asset takes in the `assets` table of each format, uncompressed; measured on the sample data (see docs/performance.md). */
const assetBytes: Readonly<Record<Format, number>> = { parquet: 550, csv: 1500, jsonl: 3000, raw: 1600 };
/** All child tables together, beside the assets table. */
const childShare = 0.8;
/** What a codec leaves. Parquet's figure already holds it. */
const codecShare: Readonly<Record<Compression, number>> = { none: 1, snappy: 0.5, gzip: 0.25, zstd: 0.25 };

/** Bytes that the files of an export will take, roughly. */
export function diskEstimate({ output }: Job, assets: number): number {
  const children = output.tables.filter((table) => table !== 'assets').length / 5;
  const bytes = output.formats.map((format) => {
    const tables = format === 'raw' ? 1 : (output.tables.includes('assets') ? 1 : 0) + children * childShare;
    const codec = format === 'parquet' ? 1 : codecShare[output.compression[format]];
    return assetBytes[format] * tables * codec;
  });
  return Math.round(assets * bytes.reduce((sum, each) => sum + each, 0));
}
