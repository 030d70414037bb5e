export type IdFormat = 'lines' | 'csv' | 'json' | 'jsonl' | 'parquet';
export type InputCompression = 'none' | 'gzip' | 'zstd';
