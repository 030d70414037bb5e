import type { Column } from '../../../core/records/table.ts';

/** Bytes before a cell: nulls come last. */
const isThere = Buffer.of(0);
const isNull = Buffer.of(1);
/** No text holds these bytes, whatever follows it: a zero within one is followed by 255. */
const endOfText = Buffer.of(0, 0);
/** Added to whole numbers, which have at most 38 digits, so that none is below zero. */
const wholeBias = 1n << 127n;
const wholeDigits = 32;

/**
 * Bytes that are in the order of a row's cells: texts by their UTF-8, numbers by their value, false before true.
 * @param cells the text of each column's cell as CSV has it
 */
export function sortKey(columns: readonly Column[], cells: readonly (string | null)[]): Buffer {
  return Buffer.concat(
    columns.flatMap(({ type }, place) => {
      const cell = cells[place] ?? null;
      return cell === null ? [isNull] : [isThere, ...keyOfCell(type, cell)];
    }),
  );
}

function keyOfCell(type: Column['type'], cell: string): readonly Uint8Array[] {
  switch (type) {
    case 'string':
    case 'json':
      return [keyOfText(Buffer.from(cell)), endOfText];
    case 'boolean':
      return [Buffer.of(Number(cell === 'true'))];
    case 'double':
      return [keyOfDouble(Number(cell))];
    case 'int64':
    case 'decimal':
    case 'timestamp':
      return [Buffer.from((BigInt(cell) + wholeBias).toString(16).padStart(wholeDigits, '0'), 'hex')];
  }
}

function keyOfText(text: Buffer): Buffer {
  return text.includes(0) ? Buffer.from(text.toString('latin1').replaceAll('\0', '\0\xff'), 'latin1') : text;
}

/** The bits of a double above zero are in its order; those of one below zero are in the opposite one. */
function keyOfDouble(value: number): Buffer {
  const key = Buffer.alloc(8);
  // Of the two zeros only one.
  key.writeDoubleBE(value + 0);
  if (value < 0) for (const [at, byte] of key.entries()) key[at] = byte ^ 0xff;
  else key.writeUInt8(key.readUInt8() ^ 0x80);
  return key;
}
