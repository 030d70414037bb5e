import type { Cell, Column, ColumnType, Row, Table } from '../../../src/core/records/table.ts';

export const types: readonly ColumnType[] = ['string', 'boolean', 'int64', 'double', 'decimal', 'json', 'timestamp'];

function column(name: string, type: ColumnType, nullable = true): Column {
  return { name, type, nullable, path: [], about: '' };
}

/** A column of each type, one that is never null, one that is always null, and names that need care. */
export const hostileTable: Table = {
  name: 'hostile',
  columns: [
    column('id', 'string', false),
    ...types.map((type) => column(`a_${type}`, type)),
    ...types.map((type) => column(`empty_${type}`, type)),
    column('order', 'string'),
    column('été 🔥', 'int64'),
  ],
};

const megabyte = 1024 * 1024;

/** Values of each type that encoders get wrong. */
export const hostileCells: Readonly<Record<ColumnType, readonly Cell[]>> = {
  string: [
    '',
    ' ',
    'null',
    'NULL',
    '\\N',
    'true',
    '0',
    '-0',
    '1e400',
    '"',
    '""',
    ',',
    '\n',
    '\r\n',
    '\r',
    '\t',
    'a"b,c\nd\r\ne',
    "'",
    '\\',
    '\\"',
    '\u0001\u001f\u007f',
    'a\0b',
    '\u2028\u2029\u0085',
    '\ufeffBOM',
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '＝1',
    'é',
    'ÿ',
    'Ā',
    '猫',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '😀',
    '👩‍👩‍👧‍👦',
    'a😀b猫é',
    '\ud800',
    'a\udc00b',
    '\ude00\ud83d',
    '😀\ud83d',
    '{"a":1}',
    '[1,2]',
    '__proto__',
    `${'x'.repeat(63)}😀`,
    `${'x'.repeat(64)}y`,
    '\u{10ffff}'.repeat(20),
    '\uffff'.repeat(30),
    'z'.repeat(megabyte),
    '猫"\n,😀'.repeat(megabyte / 8),
  ],
  boolean: [true, false],
  int64: [
    0,
    1,
    -1,
    2 ** 31,
    -(2 ** 31) - 1,
    2 ** 32,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    2n ** 53n,
    2n ** 53n + 1n,
    -(2n ** 53n) - 1n,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ],
  double: [
    0,
    -0,
    1,
    -1.5,
    0.1,
    0.030000000000000002,
    1e21,
    1e308,
    -1e308,
    Number.MAX_VALUE,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    2 ** 53 + 2,
    123456789.12345679,
  ],
  decimal: [
    0,
    1,
    999,
    2 ** 32,
    Number.MAX_SAFE_INTEGER,
    2n ** 53n + 1n,
    2n ** 63n - 1n,
    2n ** 63n,
    2n ** 64n - 1n,
    10_000_000_000_000_000_000n,
  ],
  timestamp: [0, -1, 1_769_903_999_123_456, -62_135_596_800_000, Number.MAX_SAFE_INTEGER],
  json: [
    '{}',
    '[]',
    '""',
    '0',
    '-0',
    '1e400',
    '0.030000000000000002',
    '18446744073709551615',
    'true',
    '"=1+1"',
    '"\\ud800"',
    '"a\\u0000b"',
    '{"a":[1,2.50,{"b":null}],"":"é😀猫"}',
    '{"__proto__":{"x":1}}',
    `"${'猫 '.repeat(megabyte / 8)}"`,
  ],
};

/** Rows in which every hostile value stands once or more, each nullable column has nulls, and one is all null. */
export function hostileRows(columns: readonly Column[], count = 60): Row[] {
  return Array.from({ length: count }, (_, n) =>
    columns.map(({ name, type, nullable }, index) => {
      if (name === 'id') return `id ${n}`;
      if (name.startsWith('empty_')) return null;
      const cells = hostileCells[type];
      const turn = n % (cells.length + 1);
      return nullable && turn === cells.length
        ? null
        : (cells[(turn + (index > types.length ? 3 : 0)) % cells.length] ?? null);
    }),
  );
}
