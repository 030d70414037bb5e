import { isJsonObject, type JsonObject, parseJson } from '../lib/json/json.ts';
import type { Column } from '../core/records/table.ts';
import { splitLines } from '../lib/scan/split-lines.ts';

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
