import { type Options, stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Column, Row } from '../../../src/core/records/table.ts';
import { anyRows } from '../../contract/formats/any-rows.ts';
import { type EncodeOptions, encodeFile } from '../../contract/formats/encoded-file.ts';
import { hostileRows, hostileTable } from '../../contract/formats/hostile-rows.ts';

// A timestamp is written as text: csv-stringify does not know of it.
const columns = hostileTable.columns.filter(({ type }) => type !== 'timestamp');
const textColumns = columns.filter(({ type }) => type === 'string');

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** The same file by csv-stringify. */
function byLibrary(rows: readonly Row[], of: readonly Column[], options: Options = {}): string {
  const text = stringify(
    rows.map((row) => [...row]),
    {
      header: true,
      columns: of.map(({ name }) => ({ key: name })),
      cast: { boolean: String, number: numberText, bigint: String },
      quoted_match: /^$/,
      ...options,
    },
  );
  // UTF-8 has no lone surrogates: they become U+FFFD on the way.
  return Buffer.from(text, 'utf8').toString('utf8');
}

async function bySink(rows: readonly Row[], options: EncodeOptions): Promise<string> {
  return (await encodeFile('csv', rows, options)).bytes.toString('utf8');
}

async function line(
  cells: Row,
  types: readonly Column['type'][],
  options: Partial<EncodeOptions> = {},
): Promise<string> {
  const of = types.map((type, index) => ({ name: `c${index}`, type, nullable: true, path: [], about: '' }));
  return (await bySink([cells], { columns: of, ...options })).split('\n').slice(1).join('\n');
}

describe('the CSV sink', () => {
  it('makes of hostile rows what csv-stringify makes of them', async () => {
    const rows = hostileRows(columns);
    expect((await bySink(rows, { columns })) === byLibrary(rows, columns)).toBe(true);
  });

  it('makes of any rows what csv-stringify makes of them', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows(columns, 15), async (rows) => {
        expect(await bySink(rows, { columns })).toBe(byLibrary(rows, columns));
      }),
      { seed: 5, numRuns: 400 },
    );
  });

  it('escapes formulas as csv-stringify does', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows(textColumns, 15), async (rows) => {
        const ours = await bySink(rows, { columns: textColumns, escapeFormulas: true });
        expect(ours).toBe(byLibrary(rows, textColumns, { escape_formulas: true }));
      }),
      { seed: 6, numRuns: 200 },
    );
  });

  it('writes a header, and nothing more when there are no rows', async () => {
    expect(await bySink([], { columns })).toBe(byLibrary([], columns));
    expect(await bySink([], { columns })).toMatch(/^id,a_string,.*\n$/);
  });

  it('quotes names in the header as csv-stringify does', async () => {
    const named = ['a,b', 'say "x"', 'two\nlines', ' plain '].map((name) => ({ ...(columns[0] as Column), name }));
    expect(await bySink([], { columns: named })).toBe(byLibrary([], named));
  });

  it('tells null from the empty string', async () => {
    expect(await line([null, '', 'null'], ['string', 'string', 'string'])).toBe(',"",null\n');
  });

  it('writes numbers with all their digits', async () => {
    const cells = [2n ** 64n - 1n, -(2n ** 63n), -0, 5e-324, 1e21];
    expect(await line(cells, ['decimal', 'int64', 'double', 'double', 'double'])).toBe(
      '18446744073709551615,-9223372036854775808,-0,5e-324,1e+21\n',
    );
  });

  it('leaves formulas as they are, counts them, and puts a quote mark before them when told', async () => {
    const cells = ['=1', '+1', '-1', '@a', '\t', '\r', '＝1', "'=1", 'a=1', '', null];
    const of = cells.map((_, index) => ({
      name: `c${index}`,
      type: 'string' as const,
      nullable: true,
      path: [],
      about: '',
    }));
    const plain = await encodeFile('csv', [cells], { columns: of });
    expect(plain.notes.formulaCells).toBe(7);
    expect(plain.bytes.toString('utf8')).toContain(`\n=1,+1,-1,@a,\t,"\r",＝1,'=1,a=1,"",\n`);
    const escaped = await encodeFile('csv', [cells], { columns: of, escapeFormulas: true });
    expect(escaped.notes.formulaCells).toBe(7);
    expect(escaped.bytes.toString('utf8')).toContain(`\n'=1,'+1,'-1,'@a,'\t,"'\r",'＝1,'=1,a=1,"",\n`);
  });

  it('takes negative numbers and JSON for no formulas', async () => {
    const { notes } = await encodeFile('csv', [[-1, -2n, '-5', '"=1"']], {
      columns: (['int64', 'int64', 'json', 'json'] as const).map((type, index) => ({
        name: `c${index}`,
        type,
        nullable: true,
        path: [],
        about: '',
      })),
    });
    expect(notes.formulaCells).toBe(0);
  });
});
