import { isJsonObject, type JsonObject, parseJson } from '../lib/json/json.ts';
import type { Column } from '../core/records/table.ts';
import { splitLines } from '../lib/scan/split-lines.ts';
import { lineFeed } from '../lib/ascii.ts';

/** How a file holds the rows of a table. */
export interface RowLayout {
  /** The cells of a row. */
  readonly columns: readonly Column[];
  /** The name of each column in the file; a column that the file lacks is null. */
  readonly names: readonly (string | undefined)[];
  /** All names in the file, in their order. */
  readonly written: readonly string[];
  /** What a bare cell of CSV holds where the value is null. */
  readonly csvNullText: string;
}

/** Longest line of raw. */
const longestLine = 256 << 20;

/** The objects of JSON lines, as many at a time as a piece of the bytes holds. */
export async function* jsonLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<JsonObject[], void, void> {
  let objects: JsonObject[] = [];
  const lines = splitLines({
    longest: longestLine,
    onLine: ({ bytes: line, start, end }) => {
      if (start === end) return;
      const value = parseJson(line.toString('utf8', start, end));
      if (!isJsonObject(value)) throw new SyntaxError('a line is not a JSON object');
      objects.push(value);
    },
  });
  for await (const piece of bytes) {
    lines.push(piece);
    yield objects;
    objects = [];
  }
  lines.end();
  yield objects;
}

/** The same bytes, cut behind ends of lines, each good until the next is requested. A last line without an end gets it. */
export async function* wholeLines(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Buffer, void, void> {
  let waiting: Uint8Array[] = [];
  for await (const piece of bytes) {
    const first = waiting.length === 0 ? 0 : piece.indexOf(lineFeed) + 1;
    if (first > 0) {
      yield Buffer.concat([...waiting, piece.subarray(0, first)]);
      waiting = [];
    }
    const end = waiting.length === 0 ? piece.lastIndexOf(lineFeed) + 1 : 0;
    if (end > first) yield Buffer.from(piece.buffer, piece.byteOffset + first, end - first);
    // A copy: the piece may be used again.
    if (end < piece.length) waiting.push(Buffer.from(piece.subarray(end)));
  }
  if (waiting.length > 0) yield Buffer.concat([...waiting, Buffer.of(lineFeed)]);
}
