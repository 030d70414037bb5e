import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { Zstd } from '@hpcc-js/wasm-zstd';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { fingerprintInputs } from '../../../../src/core/ids/read/input-bytes.ts';
import type { ListForm } from '../../../../src/core/ids/read/list-form.ts';
import { expandInputs } from '../../../../src/core/ids/id-input.ts';
import { readIds, readText, type ReadTextOptions } from '../../../../src/core/ids/read/read-ids.ts';
import { inPieces, readSizes } from '../../../lib/in-pieces.ts';
import { brief, collect, idOf, readFile, writeFiles, writeInput } from './id-files.ts';
import { entriesIn } from '../entries.ts';

const [a, b, c] = [idOf(1), idOf(2), idOf(3)];
const zstd = await Zstd.load();

/** A Parquet file of two row groups with the ids in `mint`, one of them null. */
function parquet(): Uint8Array {
  const columnData = [
    { name: 'number', data: [1, 2, 3, 4], type: 'INT32' as const },
    { name: 'mint', data: [a, null, `"${b}"`, 'x'], type: 'STRING' as const },
  ];
  return new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 2 }));
}

/** One content in every format, and what is read from it. */
const formats: Readonly<Record<string, { name: string; content: string | Uint8Array; entries: string[] }>> = {
  lines: {
    name: 'ids.txt',
    content: `${a}\n\n${b}\nx\n${c}`,
    entries: [`1 ${a}`, `3 ${b}`, '4 !x: 1 bytes, not 32', `5 ${c}`],
  },
  csv: {
    name: 'IDS.CSV',
    content: `name,id\n"x,\ny",${a}\nz,"${b}"\nw,x\n`,
    entries: [`2 ${a}`, `4 ${b}`, '5 !x: 1 bytes, not 32'],
  },
  tsv: { name: 'ids.tsv', content: `mint\tname, full\n${a}\tx\n${b}\ty`, entries: [`2 ${a}`, `3 ${b}`] },
  json: {
    name: 'hashlist.json',
    content: `["${a}",\n "${b}", "x"\n]`,
    entries: [`1 ${a}`, `2 ${b}`, '2 !x: 1 bytes, not 32'],
  },
  'json objects': {
    name: 'mints.json',
    content: JSON.stringify([{ name: 'n', mint: a }, { token_mint: b }, { id: c, mint: a }], undefined, 1),
    entries: [`2 ${a}`, `6 ${b}`, `9 ${c}`],
  },
  jsonl: {
    name: 'ids.ndjson',
    content: `"${a}"\n{"mint":"${b}","list":[1,{"id":"no"}]}\n\n  {"id":"x"}\n`,
    entries: [`1 ${a}`, `2 ${b}`, '4 !x: 1 bytes, not 32'],
  },
  parquet: {
    name: 'ids.parquet',
    content: parquet(),
    entries: [`1 ${a}`, '2 !: null', `3 ${b}`, '4 !x: 1 bytes, not 32'],
  },
};

describe.each(Object.entries(formats))('readIds from %s', (_, { name, content, entries }) => {
  it('reads the ids, with the line of each', async () => {
    expect(brief(await readFile(name, content))).toEqual(entries);
  });

  it('reads the same from gzip, in one member or two, and from zstd', async () => {
    const bytes = Buffer.from(content);
    const half = Math.floor(bytes.length / 2);
    const two = Buffer.concat([gzipSync(bytes.subarray(0, half)), gzipSync(bytes.subarray(half))]);
    expect(brief(await readFile(`${name}.gz`, gzipSync(bytes)))).toEqual(entries);
    expect(brief(await readFile(`${name}.GZ`, two))).toEqual(entries);
    expect(brief(await readFile(`${name}.zst`, zstd.compress(bytes)))).toEqual(entries);
  });
});

describe('readIds', () => {
  it('reads several files as one stream, in blocks of at most 1024, and counts their bytes', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => idOf(index));
    const folder = await writeFiles({
      'b.txt': many.join('\n'),
      'a.json.gz': gzipSync(JSON.stringify([a])),
      'p.parquet': parquet(),
    });
    const inputs = await expandInputs({ from: ['b.txt', 'a.json.gz', 'p.parquet'], baseDir: folder });
    let bytes = 0;
    const blocks = readIds(inputs, { onBytes: (more) => (bytes += more) });
    const seen: string[] = [];
    for await (const { entries, hashes } of blocks) {
      expect(entries.length).toBeLessThanOrEqual(1024);
      expect(hashes.length).toBe(entries.ids().length * 4);
      for (const entry of entriesIn(entries)) if (entry.state === 'valid') seen.push(`${entry.source} ${entry.text}`);
    }
    expect(seen).toEqual([...many.map((id) => `0 ${id}`), `1 ${a}`, `2 ${a}`, `2 ${b}`]);
    const fingerprints = await fingerprintInputs(inputs);
    expect(bytes).toBe(fingerprints.reduce((sum, each) => sum + each.bytes, 0));
  });

  it('hands the ids of a large row group out as it reads them, and says how far it is', async () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => idOf(index));
    const columnData = [{ name: 'id', data: ids, type: 'STRING' as const }];
    const file = new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: ids.length }));
    let bytes = 0;
    const blocks = readIds([await writeInput('ids.parquet', file)], { onBytes: (more) => (bytes += more) });
    const seen: string[] = [];
    for await (const { entries } of blocks) {
      expect(entries.length).toBeLessThanOrEqual(1024);
      seen.push(...entriesIn(entries).map(({ text }) => text));
      expect(bytes / file.length).toBeCloseTo(seen.length / ids.length, 1);
    }
    expect(seen).toEqual(ids);
    expect(bytes).toBe(file.length);
  });

  it('finds every id among the real ones', async (context) => {
    const real = new URL('../../../../../shared/data/real-ids.txt', import.meta.url);
    let text = '';
    try {
      text = readFileSync(real, 'utf8');
    } catch {
      context.skip('the real ids are not at hand');
    }
    const ids = text.split('\n').filter((line) => line !== '');
    const entries = await readFile('real.txt', text);
    expect(entries.map((entry) => entry.text)).toEqual(ids);
    expect(entries.every((entry) => entry.state === 'valid')).toBe(true);
  });
});

/** Ids, slips and noise, as they stand in files. */
const word = fc.oneof(
  { weight: 3, arbitrary: fc.nat(50).map(idOf) },
  fc.constantFrom(
    '',
    'x',
    `${a},${b}`,
    '\u200B',
    '\u00A0',
    '1'.repeat(32),
    'é',
    '\u{1F600}',
    '"',
    "'",
    '\\',
    '{}',
    'null',
    '[1]',
    '12',
  ),
);
const documents: Readonly<Record<Exclude<ListForm['kind'], 'parquet'>, fc.Arbitrary<string>>> = {
  lines: fc
    .tuple(fc.array(fc.array(word, { maxLength: 3 })), fc.constantFrom('\n', '\r\n', '\r'))
    .map(([lines, end]) => lines.map((words) => words.join('')).join(end)),
  words: fc
    .array(word)
    .chain((words) => fc.constantFrom(' ', ', ', ';\r\n', '\r').map((separator) => words.join(separator))),
  csv: fc
    .array(fc.tuple(word, word))
    .map((rows) =>
      ['name,id', ...rows.map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','))].join('\n'),
    ),
  json: fc
    .array(
      fc.oneof(
        word,
        word.map((id) => ({ id })),
      ),
    )
    .map((values) => JSON.stringify(values, undefined, 1)),
  jsonl: fc
    .array(
      fc.oneof(
        word,
        word.map((id) => ({ mint: id })),
      ),
    )
    .map((values) => values.map((value) => JSON.stringify(value)).join('\n')),
};

/** What a look at these documents would find. */
const forms: Readonly<Record<keyof typeof documents, ReadTextOptions['form']>> = {
  lines: { kind: 'lines' },
  words: { kind: 'words' },
  csv: { kind: 'csv', delimiter: 44, skippedRows: 1, column: 1 },
  json: { kind: 'json', opensInner: false, members: ['id'] },
  jsonl: { kind: 'jsonl', opensInner: false, members: ['mint'] },
};

describe.each(Object.entries(documents))('readText of %s', (kind, document) => {
  it('gives the same entries however the bytes are cut into reads', async () => {
    const input = { name: 'ids', path: '', format: 'lines' as const, compression: 'none' as const };
    const entriesOf = async (bytes: Uint8Array, sizes: readonly number[]): Promise<unknown> => {
      const reads = async function* (): AsyncGenerator<Uint8Array> {
        yield* inPieces(bytes, sizes);
      };
      return collect(readText(reads(), { input, source: 0, form: forms[kind as keyof typeof forms] }));
    };
    await fc.assert(
      fc.asyncProperty(document, fc.boolean(), readSizes, async (text, mark, sizes) => {
        const bytes = Buffer.from((mark ? '\uFEFF' : '') + text);
        expect(await entriesOf(bytes, sizes)).toEqual(await entriesOf(bytes, [1_000_000]));
      }),
      { seed: 40, numRuns: 300 },
    );
  });
});

describe('readIds by column', () => {
  const csvEntries = async (text: string, column?: string): Promise<string[]> =>
    brief(await readFile('ids.csv', text, { column }));

  it('takes the column asked for, else id, else mint, else the only one with ids', async () => {
    expect(await csvEntries(`id,mint,owner\n${a},${b},${c}`, 'owner')).toEqual([`2 ${c}`]);
    expect(await csvEntries(`owner,mint,id\n${c},${b},${a}`)).toEqual([`2 ${a}`]);
    expect(await csvEntries(`owner,Mint\n${c},${b}`)).toEqual([`2 ${b}`]);
    expect(await csvEntries(`hash,name\n${c},x`)).toEqual([`2 ${c}`]);
  });

  it('takes a first row that holds an id, or one with a slip, for an entry', async () => {
    expect(await csvEntries(`${a},x\n${b},y`)).toEqual([`1 ${a}`, `2 ${b}`]);
    expect(await csvEntries(`x,${a}\ny,${b}\nz,`)).toEqual([`1 ${a}`, `2 ${b}`, '3 !: empty id column']);
    const slip = `${a.slice(0, -1)}0`;
    expect(await csvEntries(`${slip}\n${b}`)).toEqual([
      `1 !${slip}: "0" is not a base58 character (column 43)`,
      `2 ${b}`,
    ]);
  });

  it('takes a first row that names the id column for the header, though another name looks nearly like an id', async () => {
    const long = 'transactionSignatureOfTheMint';
    expect(await csvEntries(`name,mint,${long}\nx,${a},s`)).toEqual([`2 ${a}`]);
    expect(await csvEntries(`name,key,${long}\nx,${a},s`, 'key')).toEqual([`2 ${a}`]);
    expect(await csvEntries(`name,key,${long}\n${a},y,${b}`, long)).toEqual([`2 ${b}`]);
    // A whole id is no name: `mint` beside one is a cell.
    expect(await csvEntries(`${a},mint\n${b},burn`)).toEqual([`1 ${a}`, `2 ${b}`]);
  });

  it('finds the delimiter in the first row, outside quotes', async () => {
    for (const between of [',', ';', '\t', '|']) {
      const cells = [`"a,;\t|,;\t|b"`, 'id', 'x'].join(between);
      expect(await csvEntries(`${cells}\n${['1', a, '2'].join(between)}`)).toEqual([`2 ${a}`]);
    }
  });

  it('counts a short row and an empty cell as invalid, a blank row as nothing', async () => {
    expect(await csvEntries(`name,id\nx\ny,\n,\n\nz,${a}`)).toEqual([
      '2 !: 1 columns, but the id is in column 2',
      '3 !: empty id column',
      `6 ${a}`,
    ]);
  });

  it('takes the member asked for from objects, and strings as they are', async () => {
    const text = JSON.stringify([{ id: a, token: b }, c, { id: a }, { token: 5 }, { token: '' }]);
    expect(brief(await readFile('ids.json', text, { column: 'token' }))).toEqual([
      `1 ${b}`,
      `1 ${c}`,
      '1 !: no member "token"',
      '1 !: a number in "token", not a string',
      '1 !: nothing in "token"',
    ]);
  });

  it('is not led astray by a member called __proto__', async () => {
    const text = `[{"__proto__":{"id":"${a}"},"id":"${b}"},{"__proto__":{"id":"${a}"}}]`;
    expect(brief(await readFile('ids.json', text))).toEqual([`1 ${b}`, '1 !: no member "id"']);
  });

  it('takes JSON values that are no ids for invalid, and the id of 32 ones also without quotes', async () => {
    const ones = '1'.repeat(32);
    const text = `["", null, true, [1], {}, ${ones}, ${a}, "\\ud800"]`;
    expect(brief(await readFile('ids.json', text))).toEqual([
      '1 !: an empty string',
      '1 !null: null where an id or an object was expected',
      '1 !true: a boolean where an id or an object was expected',
      '1 ![1]: an array where an id or an object was expected',
      '1 !: an empty object',
      `1 ${ones}`,
      `1 ${a}`,
      '1 !\uFFFD: U+D800 is not a base58 character (column 1)',
    ]);
  });

  it('names the columns when the one asked for is missing', async () => {
    for (const [name, content] of [
      ['ids.csv', `name,mint\nx,${a}`],
      ['ids.json', `[{"name":"x","mint":"${a}"}]`],
      ['ids.jsonl', `{"name":"x","mint":"${a}"}`],
    ] as const) {
      await expect(readFile(name, content, { column: 'key' })).rejects.toMatchObject({
        exit: 'input',
        message: `${name} has no column "key"; it has: name, mint`,
      });
    }
    await expect(readFile('ids.parquet', parquet(), { column: 'key' })).rejects.toMatchObject({
      exit: 'input',
      message: 'ids.parquet has no column "key"; it has: number, mint',
    });
  });
});

describe('readIds with fingerprints', () => {
  it('reads what is still the same', async () => {
    for (const { name, content, entries } of Object.values(formats)) {
      const input = await writeInput(name, content);
      expect(brief(await collect(readIds([input], { expected: await fingerprintInputs([input]) })))).toEqual(entries);
    }
  });
});
