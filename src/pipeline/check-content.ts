import { codecOf, decompress, type FileCodec } from '../lib/decompress.ts';
import { messageOf } from '../lib/export-error.ts';
import { type FileInspection, inspectParquet, inspectText, type TextInspector } from '../sinks/inspect-file.ts';
import type { Format } from '../sinks/sink.ts';
import type { Manifest } from '../store/manifest.ts';
import type { OpenFile } from '../store/open-file.ts';
import { piecesOf } from './file-pieces.ts';

/** Looks at what a file holds. */
export interface ContentCheck {
  /** Takes each piece of the file in turn, while it is hashed. */
  pass(piece: Uint8Array): void;
  /** To be called when the hash is known to be right. @throws {Error} when the file is not of its format */
  found(): Promise<FileInspection>;
}

type ManifestFile = Pick<Manifest['files'][number], 'format' | 'path' | 'bytes'>;

/**
 * Plain text is looked at while it is hashed, so that it is read once. What a decoder has to open is read again when the
 * hash is known: no decoder meets bytes that are not those that were written.
 */
export function contentCheck(open: OpenFile, file: ManifestFile): ContentCheck {
  const format = file.format as Format;
  if (format === 'parquet') return afterwards(() => inspectParquet(rangesOf(open, file.bytes)));
  const inspector = inspectText(format);
  const codec = codecOf(file.path);
  return codec === 'none' ? meanwhile(inspector) : afterwards(() => inflated(open, codec, inspector));
}

function afterwards(found: () => Promise<FileInspection>): ContentCheck {
  return { pass: () => undefined, found };
}

function meanwhile(inspector: TextInspector): ContentCheck {
  let fault: Error | undefined;
  return {
    pass(piece) {
      if (fault !== undefined) return;
      try {
        inspector.push(piece);
      } catch (error) {
        // Kept until the whole file was hashed: that it changed says more.
        fault = error instanceof Error ? error : new Error(messageOf(error));
      }
    },
    async found() {
      if (fault !== undefined) throw fault;
      return inspector.end();
    },
  };
}

async function inflated(open: OpenFile, codec: FileCodec, inspector: TextInspector): Promise<FileInspection> {
  for await (const piece of decompress(piecesOf(open), codec)) inspector.push(piece);
  return inspector.end();
}

function rangesOf(open: OpenFile, byteLength: number): Parameters<typeof inspectParquet>[0] {
  return {
    byteLength,
    slice: async (start, end = byteLength) => {
      const bytes = await open.read(start, end - start);
      // A copy of its own: a small buffer is a view of a pool, and its slice too.
      return new Uint8Array(bytes).buffer;
    },
  };
}
