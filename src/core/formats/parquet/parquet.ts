import { blockBytes, type Sink } from '../sink.ts';

/**
 * Apache Parquet by Apache's own encoder (docs/decisions/0001-parquet.md says why). It is loaded when the first file
 * opens: it is 5 MB of WebAssembly that the other formats have no use for.
 */
export const parquetSink: Sink = {
  format: 'parquet',
  extension: 'parquet',
  compressesInside: true,
  blockBytes,
  open: async (output, options) => {
    const { ParquetEncoder } = await import('./parquet-encoder.ts');
    return new ParquetEncoder(output, options);
  },
};
