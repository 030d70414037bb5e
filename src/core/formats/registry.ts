import type { Format, Sink } from './sink.ts';

/** What encodes each format. A job loads those that it writes: Parquet alone is 5 MB of WebAssembly. */
const sinks: Readonly<Record<Format, () => Promise<Sink>>> = {
  parquet: async () => (await import('./parquet/parquet-encoder.ts')).parquetSink,
  csv: async () => (await import('./csv.ts')).csvSink,
  jsonl: async () => (await import('./jsonl.ts')).jsonlSink,
  raw: async () => (await import('./raw.ts')).rawSink,
};

export function sinkFor(format: Format): Promise<Sink> {
  return sinks[format]();
}
