import { csvSink } from './csv.ts';
import { jsonlSink } from './jsonl.ts';
import { parquetSink } from './parquet/parquet.ts';
import { rawSink } from './raw.ts';
import type { Format, Sink } from './sink.ts';

/** What encodes each format. */
const sinks: Readonly<Record<Format, Sink>> = {
  parquet: parquetSink,
  csv: csvSink,
  jsonl: jsonlSink,
  raw: rawSink,
};

export function sinkFor(format: Format): Sink {
  return sinks[format];
}
