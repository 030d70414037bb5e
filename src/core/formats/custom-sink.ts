import { besideTables } from '../records/beside-tables.ts';
import { rowsIn } from '../records/cell-of-text.ts';
import type { Column, NamedRow } from '../records/table.ts';
import { ExportError } from '../../lib/export-error.ts';
import { ByteBlocks } from './byte-blocks.ts';
import { blockBytes, formats, type Sink } from './sink.ts';

/** A file format that a program brings. Its files lie in `<name>/<table>/`, with the guarantees of the built-in formats. */
export interface CustomSink {
  /** Folder of its files and `format` in the manifest: letters, digits and dashes. */
  readonly name: string;
  /** File name ending without a dot: lower-case letters and digits. */
  readonly extension: string;
  /** Called once for each file. The bytes must depend on the table and its rows alone. */
  open(output: CustomOutput, table: CustomTable): CustomEncoder | Promise<CustomEncoder>;
}

export interface CustomOutput {
  /** Appends bytes, one call at a time. They may be reused once it resolves. */
  write(bytes: Uint8Array): Promise<void>;
}

export interface CustomTable {
  readonly name: string;
  readonly columns: readonly Column[];
}

/** A row by the names of its columns. See `Cell` for what a column of each type holds. */
export type CustomRow = NamedRow;

export interface CustomEncoder {
  /** Encodes the next rows of the file. */
  write(rows: readonly CustomRow[]): Promise<void>;
  /** Writes what remains, such as a footer. A file without rows must be valid too. */
  end(): Promise<void>;
}

/** @throws {ExportError} `usage` when names are unfit, used twice, or those of built-in formats */
export function requireDistinctSinks(sinks: readonly CustomSink[]): void {
  const taken = new Set<string>([...formats, ...besideTables.map(({ name }) => name)]);
  for (const { name, extension } of sinks) {
    if (!/^[a-z0-9][a-z0-9-]*$/i.test(name) || !/^[a-z0-9]+$/.test(extension)) {
      throw new ExportError('usage', `sink ${JSON.stringify(name)} has an invalid name or extension`, {
        todo: 'Use letters, digits and dashes in the name, lower-case letters and digits in the extension.',
      });
    }
    if (taken.has(name.toLowerCase())) {
      const of = formats.some((format) => format === name.toLowerCase()) ? ' of a built-in format' : '';
      throw new ExportError('usage', `duplicate format name${of}: ${name}`, { todo: 'Rename the sink.' });
    }
    taken.add(name.toLowerCase());
  }
}

/** A custom sink behind the interface of the built-in ones, for one table. */
export function sinkOf(custom: CustomSink, table: CustomTable): Sink {
  return {
    format: custom.name,
    extension: custom.extension,
    compressesInside: true,
    blockBytes,
    open: async (output) => {
      const bytes = new ByteBlocks(output);
      const encoder = await custom.open({ write: (some) => bytes.write(some) }, table);
      return {
        write: (block) => encoder.write(rowsIn(block, table.columns)),
        end: async () => {
          await encoder.end();
          await bytes.end();
          return { formulaCells: 0, replacedSurrogates: 0 };
        },
      };
    },
  };
}
