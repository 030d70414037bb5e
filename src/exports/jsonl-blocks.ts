import { formatTexts, timestampBytes } from '../core/formats/growing-bytes.ts';
import { cellOfJson, type RowBlock, RowBlockBuilder } from '../core/records/row-block.ts';
import { MadeText } from '../core/records/texts.ts';
import { isJsonObject, parseJson } from '../lib/json/json.ts';
import { KernelRows, type LineShape } from './kernel-rows.ts';
import { type RowLayout, wholeLines } from './row-readers.ts';
import { lineFeed } from '../lib/ascii.ts';

/**
 * Reads lines of JSON. The kernel reads those that are as this program writes them, each with the same names in the same order; others are parsed.
 */
export async function* jsonlBlocks(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  layout: RowLayout,
): AsyncGenerator<RowBlock, void, void> {
  const made = new MadeText();
  const builder = new RowBlockBuilder(layout.columns.length, 0, made);
  const kernelRows = new KernelRows(shapeOf(layout));
  for await (const lines of wholeLines(bytes)) {
    if (lines.length === 0) continue;
    builder.cutTo(0);
    for (let at = 0; at < lines.length; ) {
      at = kernelRows.read(lines, at, builder, made);
      if (at === lines.length) break;
      const end = lines.indexOf(lineFeed, at);
      if (end > at) parseLine(lines.toString('utf8', at, end), layout, builder);
      at = end + 1;
    }
    yield builder.block(lines);
  }
}

function shapeOf({ columns, names, written }: RowLayout): LineShape {
  const places = written.map((name) => names.indexOf(name));
  const texts = formatTexts(written.map((name, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`));
  return { format: 'jsonl', columns, places, texts, skip: skipTo({ columns, places, texts }) };
}

/**
 * Where the last column of a line is a time, nothing between it and the wanted column before is looked at. Its key and value have a known length, and end the
 * line nowhere else.
 */
function skipTo({ columns, places, texts: { starts } }: Pick<LineShape, 'columns' | 'places' | 'texts'>) {
  const last = places.length - 1;
  const isTime = columns[places[last] ?? -1]?.type === 'timestamp';
  const column = isTime ? places.findLastIndex((place, index) => place >= 0 && index < last) + 1 : -1;
  return { column, bytes: (starts[last + 1] ?? 0) - (starts[last] ?? 0) + timeBytes + 1 };
}

function parseLine(line: string, { columns, names }: RowLayout, builder: RowBlockBuilder): void {
  const row = parseJson(line);
  if (!isJsonObject(row)) throw new SyntaxError('a line is not a JSON object');
  builder.addCells(
    columns,
    columns.map(({ type }, index) => {
      const name = names[index];
      return name === undefined ? null : cellOfJson(row[name], type);
    }),
  );
}

/** `"2026-11-20T02:00:00.000000Z"`. */
const timeBytes = timestampBytes + 2;
