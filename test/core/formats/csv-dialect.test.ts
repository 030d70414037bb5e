import { describe, expect, it } from 'vitest';
import { blockOf } from '../../../src/core/records/row-block.ts';
import type { Column, ColumnType, Row } from '../../../src/core/records/table.ts';
import { csvDialectNames, csvDialects } from '../../../src/core/formats/sink.ts';
import { csvSink } from '../../../src/core/formats/csv.ts';

const column = (name: string, type: ColumnType): Column => ({ name, type, nullable: true, path: [], about: '' });
const columns = [column('text', 'string'), column('json', 'json'), column('count', 'int64'), column('at', 'timestamp')];
const rows: Row[] = [
  ['', '[]', 0, 0],
  [null, null, null, null],
  ['\\N', '"\\\\N"', 1, 1_769_903_999_123_456],
  ['plain', '{"a":1}', -1, -1],
];

async function written(csvDialect: (typeof csvDialectNames)[number]): Promise<string[]> {
  const pieces: Uint8Array[] = [];
  const output = { write: async (bytes: Uint8Array) => void pieces.push(Uint8Array.from(bytes)) };
  const encoder = await csvSink.open(output, { columns, compression: 'none', escapeFormulas: false, csvDialect });
  await encoder.write(blockOf(columns, rows));
  await encoder.end();
  return Buffer.concat(pieces).toString('utf8').split('\n');
}

describe('a CSV dialect', () => {
  it.each(['rfc4180', 'bigquery'] as const)(
    'writes null as an empty cell, and quotes where it must: %s',
    async (name) => {
      expect(await written(name)).toEqual([
        'text,json,count,at',
        '"",[],0,1970-01-01T00:00:00.000000Z',
        ',,,',
        '\\N,"""\\\\N""",1,2026-01-31T23:59:59.123456Z',
        'plain,"{""a"":1}",-1,1969-12-31T23:59:59.999999Z',
        '',
      ]);
    },
  );

  it.each([
    ['postgres', ',,,'],
    ['snowflake', ',,,'],
    ['redshift', '\\N,\\N,\\N,\\N'],
    ['clickhouse', '\\N,\\N,\\N,\\N'],
  ] as const)('quotes every text, never null: %s', async (name, nulls) => {
    expect(await written(name)).toEqual([
      'text,json,count,at',
      '"","[]",0,1970-01-01T00:00:00.000000Z',
      nulls,
      '"\\N","""\\\\N""",1,2026-01-31T23:59:59.123456Z',
      '"plain","{""a"":1}",-1,1969-12-31T23:59:59.999999Z',
      '',
    ]);
  });

  it('never writes a text as it writes null', () => {
    for (const name of csvDialectNames) {
      const { nullText, quoteTexts } = csvDialects[name];
      expect(nullText === '' || quoteTexts, name).toBe(true);
    }
  });
});
