import type { Job } from '../job/job-schema.ts';
import type { Compression, Format } from '../formats/sink.ts';

interface AssetBytes {
  /** In the `assets` table. */
  readonly assets: number;
  /** In all child tables together. */
  readonly children: number;
}

/** Bytes an asset takes in each format, measured on the sample export (jobs/demo.yaml): Parquet with zstd, others plain. */
const assetBytes: Readonly<Record<Format, AssetBytes>> = {
  parquet: { assets: 290, children: 230 },
  csv: { assets: 1290, children: 630 },
  jsonl: { assets: 2270, children: 1050 },
  raw: { assets: 1700, children: 0 },
};

/** What a codec leaves. Parquet's figures already hold it. */
const codecShare: Readonly<Record<Compression, number>> = { none: 1, snappy: 0.5, gzip: 0.25, zstd: 0.25 };

/** What an export needs on disks, in bytes, roughly. */
export interface DiskNeeds {
  /** Its files when it is finished, on a disk or in a bucket. */
  readonly finished: number;
  /** The most that is on the local disk at a time while it runs. */
  readonly peak: number;
}

/** An answer that is kept until its part is committed: an asset as the service sends it. */
const answerBytes = 1700;

/** @param asked of the assets, those that are requested; the others come from a base */
export function diskNeeds(job: Job, assets: number, asked?: number): DiskNeeds {
  const finished = diskEstimate(job, assets);
  return { finished, peak: finished + answerBytes * (asked ?? assets) };
}

/** Bytes of the largest file of a whole part, roughly. */
export function largestFileEstimate({ output }: Job): number {
  const isAssets = output.tables.includes('assets');
  const files = output.formats.map((format) => {
    const { assets, children } = assetBytes[format];
    const codec = format === 'parquet' ? 1 : codecShare[output.compression[format]];
    return (format === 'raw' || isAssets ? assets : children) * codec;
  });
  return Math.round(output.rowsPerPart * Math.max(0, ...files));
}

/** Bytes that the files of an export will take, roughly. */
export function diskEstimate({ output }: Job, assets: number): number {
  const children = output.tables.filter((table) => table !== 'assets').length / 6;
  const bytes = output.formats.map((format) => {
    const each = assetBytes[format];
    const main = format === 'raw' || output.tables.includes('assets') ? each.assets : 0;
    const codec = format === 'parquet' ? 1 : codecShare[output.compression[format]];
    return (main + each.children * children) * codec;
  });
  return Math.round(assets * bytes.reduce((sum, each) => sum + each, 0));
}
