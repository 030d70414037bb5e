import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import bs58 from 'bs58';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { expandInputs, type IdInput } from '../../../../src/core/ids/id-input.ts';
import { idNames } from '../../../../src/core/ids/read/id-columns.ts';
import { type ListRules } from '../../../../src/core/ids/read/list-form.ts';
import { lookAtList, readIds } from '../../../../src/core/ids/read/read-ids.ts';
import { collect, idOf, inputError, readFile, writeFiles, writeInput } from './id-files.ts';

const ids = Array.from({ length: 6 }, (_, index) => idOf(index));
const others = ids.map((_, index) => idOf(100 + index));
const [a = '', b = '', c = ''] = ids;

async function refusal(name: string, content: string | Uint8Array, rules: ListRules = {}) {
  const { message, todo = '' } = await inputError(lookAtList(await writeInput(name, content), rules));
  return { message, todo };
}

async function takenOf(name: string, content: string | Uint8Array, rules: ListRules = {}) {
  const { taken } = await lookAtList(await writeInput(name, content), rules);
  return taken;
}

type Rows = readonly Readonly<Record<string, string | number>>[];

/** One table in every format that has columns. */
const tables: Readonly<Record<string, (rows: Rows) => string | Uint8Array>> = {
  'ids.csv': (rows) => separated(rows, ','),
  'ids.tsv': (rows) => separated(rows, '\t'),
  'ids.json': (rows) => JSON.stringify(rows),
  'ids.jsonl': (rows) => rows.map((row) => JSON.stringify(row)).join('\n'),
  'ids.jsonl.gz': (rows) => gzipSync(rows.map((row) => JSON.stringify(row)).join('')),
  'ids.parquet': (rows) => {
    const columnData = Object.keys(rows[0] ?? {}).map((name) => {
      const data = rows.map((row) => row[name]);
      return { name, data, type: typeof data[0] === 'number' ? ('INT32' as const) : ('STRING' as const) };
    });
    return new Uint8Array(parquetWriteBuffer({ columnData }));
  },
};

function separated(rows: Rows, delimiter: string): string {
  const names = Object.keys(rows[0] ?? {});
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((cells) => cells.join(delimiter)).join('\n');
}

describe.each(Object.entries(tables))('the column of ids of %s', (name, tableOf) => {
  const rowsOf = (row: (id: string, other: string, index: number) => Rows[number]): string | Uint8Array =>
    tableOf(ids.map((id, index) => row(id, others[index] ?? '', index)));
  const valid = async (content: string | Uint8Array, rules: ListRules = {}): Promise<string[]> =>
    (await readFile(name, content, rules)).filter(({ state }) => state === 'valid').map(({ text }) => text);

  it.each(idNames.flatMap((each) => [each, each.toUpperCase(), camel(each)]))(
    'is %s, whatever other columns have ids',
    async (column) => {
      const content = rowsOf((id, other) => ({ wallet: other, [column]: id }));
      expect(await valid(content)).toEqual(ids);
      expect(await takenOf(name, content)).toEqual({ input: name, column, guessed: false });
    },
  );

  it('is the first of these names that has an id', async () => {
    const content = rowsOf((id, other, index) => ({ asset_id: other, mint: id, id: index }));
    expect(await valid(content)).toEqual(ids);
    expect(await takenOf(name, content)).toMatchObject({ column: 'mint' });
  });

  it('is the only one that has ids, where no name is known', async () => {
    const content = rowsOf((id, _, index) => ({ name: `n${index}`, address: id, rank: index }));
    expect(await valid(content)).toEqual(ids);
    expect(await takenOf(name, content)).toEqual({ input: name, column: 'address', guessed: true });
  });

  it('is not guessed where two have ids', async () => {
    const content = rowsOf((id, other) => ({ wallet: other, token: id }));
    const { message, todo } = await refusal(name, content);
    expect(message).toBe(`${name} has 2 columns of ids: "wallet" and "token"`);
    expect(todo).toContain('--id-column wallet or --id-column token');
    expect(await valid(content, { column: 'token' })).toEqual(ids);
    expect(await takenOf(name, content, { column: 'Token' })).toMatchObject({ guessed: false });
  });

  it('has to have an id, also where the user names it', async () => {
    const content = rowsOf((id, _, index) => ({ name: `n${index}`, id }));
    const { message, todo } = await refusal(name, content, { column: 'name' });
    expect(message).toContain(`${name}: none of its 6 entries is an asset id (column "name")`);
    expect(todo).toContain('The columns are: name, id');
    expect((await refusal(name, content, { column: 'key' })).message).toBe(
      `${name} has no column "key"; it has: name, id`,
    );
    const without = rowsOf((_, __, index) => ({ name: `n${index}`, place: 'x' }));
    expect((await refusal(name, without)).message).toContain('it looks like a table without a column of ids');
  });

  it('is seen in the first 1,000 rows, whatever stands behind them', async () => {
    const rows = (invalid: number): Rows => [...Array.from({ length: invalid }, () => ({ id: 'x' })), { id: a }];
    expect(await takenOf(name, tableOf(rows(999)))).toMatchObject({ column: 'id' });
    expect((await refusal(name, tableOf(rows(1000)))).message).toContain('none of the first 1,000 entries');
  });
});

function camel(name: string): string {
  return name.replaceAll(/_./g, (pair) => (pair[1] ?? '').toUpperCase());
}

describe('a list', () => {
  const objects = ids.map((id) => JSON.stringify({ id }));
  it.each([
    ['an array on one line under any name', 'a.txt', JSON.stringify(ids)],
    ['an array on one line of JSON lines', 'a.jsonl', JSON.stringify(ids)],
    ['several arrays', 'a.json', `${JSON.stringify(ids.slice(0, 4))}\n${JSON.stringify(ids.slice(4))}\n`],
    ['arrays in an array', 'a.json', JSON.stringify([ids.slice(0, 4), ids.slice(4)])],
    ['arrays of one id each', 'a.json', JSON.stringify(ids.map((id) => [id]))],
    ['objects without a break between them', 'a.jsonl', objects.join('')],
    ['objects with a comma between them', 'a.json', objects.join(',\n')],
    [
      'indented objects that follow one another',
      'a.json',
      ids.map((id) => JSON.stringify({ id }, undefined, 2)).join('\n'),
    ],
    ['JSON lines under the name of JSON', 'a.json', objects.join('\n')],
    ['two objects on a later line', 'a.jsonl', `${objects.slice(0, 4).join('\n')}\n${objects.slice(4).join('')}`],
    ['ids between commas on one line', 'a.txt', ids.join(', ')],
    ['ids between commas on one line of CSV', 'a.csv', ids.join(',')],
    [
      'several ids on some lines',
      'a.txt',
      `${ids.slice(0, 3).join(' ')}\n${ids.slice(3).join(';')}`.replace(';', '\n'),
    ],
    ['quoted ids between commas', 'a.txt', ids.map((id) => `"${id}"`).join(',')],
    ['a spreadsheet with a line sep=', 'a.csv', `sep=;\r\nName;Mint\r\n${ids.map((id) => `n;${id}`).join('\r\n')}`],
    ['a spreadsheet with cells of ="…"', 'a.csv', `n,id\n${ids.map((id) => `1,="${id}"`).join('\n')}`],
    ['the same in quotes', 'a.csv', `n,"=""id"""\n${ids.map((id) => `1,"=""${id}"""`).join('\n')}`],
  ])('is read from %s', async (_, name, content) => {
    for (const [file, bytes] of [
      [name, content],
      [`${name}.gz`, gzipSync(content)],
    ] as const) {
      const entries = await readFile(file, bytes);
      expect(entries.map(({ text, state }) => `${state} ${text}`)).toEqual(ids.map((id) => `valid ${id}`));
    }
  });

  it('is read from one line of any length, in pieces', async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => idOf(index));
    for (const [name, content] of [
      ['a.txt', many.join(', ')],
      ['b.txt', JSON.stringify(many)],
      ['a.csv', many.join(',')],
      ['c.jsonl', many.map((id) => JSON.stringify({ id })).join('')],
    ] as const) {
      const entries = await readFile(name, content);
      expect(entries.map(({ text }) => text)).toEqual(many);
      expect(entries.every(({ line }) => line === 1)).toBe(true);
    }
  });

  it('keeps a word that is no id as an entry of its own among those of its line', async () => {
    const entries = await readFile('a.txt', `${a}, ${b}, oops\n${c}\n`);
    expect(entries.map(({ text, state, line }) => [line, state, text])).toEqual([
      [1, 'valid', a],
      [1, 'valid', b],
      [1, 'invalid', 'oops'],
      [2, 'valid', c],
    ]);
  });

  it('with several ids on a line behind the first 64 KB that is too long is refused, not cut', async () => {
    const long = Array.from({ length: 2000 }, (_, index) => idOf(index)).join(',');
    const { message, todo } = await inputError(readFile('a.txt', `${a}\n${long}\n`));
    expect(message).toBe('a.txt:2: several ids on a line of more than 65536 bytes');
    expect(todo).toContain(`tr -s ', \\t' '\\n' < a.txt > a.ids.txt`);
  });
});

describe('what is no list', () => {
  const signature = bs58.encode(Buffer.alloc(64, 200));
  const lines = (line: (id: string, index: number) => string): string => ids.map(line).join('\n');
  const bytes = (...start: number[]): Uint8Array => Uint8Array.from([...start, ...Buffer.alloc(60, 0xf1)]);

  it.each([
    [
      'a Git LFS pointer',
      'a.csv',
      `version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n`,
      'git lfs pull',
    ],
    ['a git-annex pointer', 'a.txt', '/annex/objects/SHA256E-s12--4d7a.txt\n', 'git annex get'],
    ['an HTML page', 'a.json', `<!DOCTYPE html>\n<html><body>Sign in</body></html>`, 'download the list again'],
    ['XML', 'a.txt', `<?xml version="1.0"?>\n<ids/>\n`, 'one a line'],
    ['SQL', 'a.txt', `INSERT INTO mints VALUES ('${a}');\n`, 'CSV'],
    ['addresses of web pages', 'a.txt', lines((id) => `https://explorer.example/address/${id}?cluster=x`), 'grep -oE'],
    ['a table', 'a.txt', lines((id, index) => `${id},Thing #${index}`), '--ids-format csv'],
    ['transaction signatures', 'a.txt', lines(() => signature), 'ids of the assets'],
    ['addresses of another chain', 'a.txt', lines(() => `0x${'ab'.repeat(20)}`), 'base58 of 32 bytes'],
    ['keys in hexadecimal', 'a.txt', lines(() => 'ab'.repeat(32)), 'base58'],
    ['numbers', 'a.txt', lines((_, index) => String(index)), 'base58 of 32 bytes'],
    [
      'the account of a list of ids',
      'a.txt.json',
      JSON.stringify({ kind: 'asset-export ids', filter: { by: 'collection', address: a } }, undefined, 2),
      'without .json',
    ],
    ['JSON without ids', 'a.json', '{"error":"rate limit"}', 'base58 of 32 bytes'],
    // Promise, Nothing misread: A file with two columns of ids, or none in its first 1,000 entries, is exit 4 before any call
  ])('is refused by what it looks like: %s', async (is, ...[name, content, todo]) => {
    const refused = await refusal(name, content);
    expect(refused.message).toContain(`it looks like ${is}`);
    expect(refused.message).toMatch(new RegExp(`^${name}: (its only entry|none of its)`));
    expect(refused.message).toContain(`\n  ${name}:`);
    expect(refused.todo).toContain(todo);
  });

  it.each([
    ['bzip2 data', bytes(0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59)],
    ['xz data', bytes(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00)],
    ['lz4 data', bytes(0x04, 0x22, 0x4d, 0x18)],
    ['a 7z archive', bytes(0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c)],
    ['a PDF', Buffer.from('%PDF-1.7\n'.padEnd(80))],
    ['an SQLite database', Buffer.from('SQLite format 3\0'.padEnd(80))],
    ['an old Excel or Word file', bytes(0xd0, 0xcf, 0x11, 0xe0)],
    ['an Arrow or Feather file', Buffer.from('ARROW1\0\0'.padEnd(80))],
    ['an Avro file', Buffer.from('Obj\u0001'.padEnd(80))],
    ['a tar archive', Buffer.from(`ids.txt${'\0'.repeat(250)}ustar\0${'\0'.repeat(249)}${a}\n${b}\n`)],
  ])('is refused by its first bytes: %s', async (is, content) => {
    for (const name of ['a.txt', 'a.csv', 'a.json']) {
      const { message, todo } = await refusal(name, content);
      expect(message).toBe(`${name} is ${is}, not text`);
      expect(todo).not.toBe('');
    }
  });

  it('is a file without an entry, which is only empty', async () => {
    for (const name of ['e.txt', 'e.csv', 'e.json', 'e.jsonl']) {
      for (const content of ['', '\n\n']) expect(await takenOf(name, content)).toBeUndefined();
    }
    expect(await takenOf('e.json', '[]')).toBeUndefined();
    expect(await takenOf('e.csv', 'name,owner\n')).toBeUndefined();
  });

  it.each([
    ['title rows', ['My collection,,', 'Exported today,,', 'Name,Mint,Owner'], 3],
    ['a title row without a column more', ['My collection', 'name,address'], 2],
    ['lines with #', ['# made by a tool', '#', '# for all', 'owner,mint'], 4],
    ['a line with # above one column', ['# made by a tool', 'mint'], 2],
  ])('is a table below %s: the line of its header is named', async (_, above, line) => {
    const header = above.at(-1) ?? '';
    const cells = (id: string, index: number): Readonly<Record<string, string | undefined>> => ({
      owner: others[index],
      mint: id,
      address: id,
    });
    const rows = ids.map((id, index) => header.split(',').map((name) => cells(id, index)[name.toLowerCase()] ?? 'x'));
    const content = [...above, ...rows].join('\n');
    for (const rules of [{}, { column: 'mint' }]) {
      const { message, todo } = await refusal('a.csv', content, rules);
      expect(message).toBe(`a.csv: the header seems to be line ${line} (${header.replaceAll(',', ', ')})`);
      expect(todo).toBe(`Remove the lines above it, and use that: tail -n +${line} < a.csv > a.ids.csv`);
    }
    const folder = await writeFiles({ 'a.csv': content });
    expect(spawnSync('sh', ['-c', `tail -n +${line} < a.csv > a.ids.csv`], { cwd: folder }).status).toBe(0);
    expect(readFileSync(`${folder}/a.ids.csv`, 'utf8').split('\n')[0]).toBe(header);
  });

  it('is no table below a title where the first row is a header, or no row is one', async () => {
    const bad = ['name,address', 'x,none', ...ids.map((id) => `y,${id}`)].join('\n');
    expect(await takenOf('a.csv', bad)).toMatchObject({ column: 'address' });
    const numbered = ['#,Address', '1,none', ...ids.map((id) => `2,${id}`)].join('\n');
    expect(await takenOf('a.csv', numbered)).toMatchObject({ column: 'Address' });
    expect(await takenOf('a.csv', ['list', ...ids].join('\n'))).toMatchObject({ column: 'list' });
  });

  it('is a text whose lines or arrays look like the rows of a table', async () => {
    const pairs = ids.map((id, index) => [others[index] ?? '', id]);
    const text = await refusal('a.txt', pairs.map((pair) => pair.join(' ')).join('\n'));
    expect(text.message).toBe('a.txt: 2 ids on each line: a list, or a table with columns?');
    expect(text.todo).toContain('--ids-format csv --id-column NAME');
    const csv = await refusal('a.csv', pairs.map((pair) => pair.join(',')).join('\n'));
    expect(csv.message).toBe('a.csv has 2 columns of ids: "1 (no header)" and "2 (no header)"');
    expect(csv.todo).toContain('Add a first line with names');
    const json = await refusal('a.json', JSON.stringify(pairs));
    expect(json.message).toBe('a.json: arrays of 2 values each, like the rows of a table');
    expect(json.todo).toContain(`jq -r '.[][0]' < a.json > a.ids.txt or: jq -r '.[][1]' < a.json`);
  });
});

/** JSON around a list, with where the ids stand. */
const wrapped: Readonly<Record<string, string>> = {
  'result.json': JSON.stringify({
    jsonrpc: '2.0',
    id: 'x',
    result: { total: 6, items: ids.map((id) => ({ id, grouping: [{ group_value: others[0] }] })) },
  }),
  'mints.json': JSON.stringify({ mints: ids }),
  'indented.json': JSON.stringify({ data: { mints: ids } }, undefined, 2),
  'keyed.json': JSON.stringify(Object.fromEntries(ids.map((id) => [id, { name: 'x' }]))),
  'keyed inside.json': JSON.stringify({ 'by mint': Object.fromEntries(ids.map((id) => [id, others[0]])) }),
  'pages.jsonl': [ids.slice(0, 3), ids.slice(3)]
    .map((page) => JSON.stringify({ cursor: others[0], items: page.map((id) => ({ id })) }))
    .join('\n'),
  'of a collection.json': JSON.stringify({ mint: others[0], items: ids.map((mint) => ({ mint, owner: others[1] })) }),
  'by wallet.json': JSON.stringify(
    Object.fromEntries(ids.map((id, index) => [others[index], { amount: 1, mints: [id] }])),
  ),
  'by name.json': JSON.stringify(Object.fromEntries(ids.map((id, index) => [`holder ${index}`, { items: [id] }]))),
  'names of ids.json': JSON.stringify({ items: Object.fromEntries(ids.map((id, index) => [`Monkey #${index}`, id])) }),
  'packed.json.gz': JSON.stringify({ result: ids.map((id) => ({ asset_id: id })) }),
};

/** Files that a line for a shell makes a list of, and that line after the name of what it does. */
const shellLines: Readonly<Record<string, { content: string | Uint8Array; line: string }>> = {
  'a.json.gz': {
    content: gzipSync(JSON.stringify({ result: ids })),
    line: "gzip -dc a.json.gz | jq -r '.result[]' > a.ids.txt",
  },
  'rows.json': {
    content: JSON.stringify(ids.map((id, index) => [id, others[index] ?? ''])),
    line: "jq -r '.[][0]' < rows.json > rows.ids.txt or: jq -r '.[][1]' < rows.json > rows.ids.txt",
  },
  'pages.txt': {
    content: ids.map((id) => `https://explorer.example/address/${id}\n`).join(''),
    line: "grep -oE '[1-9A-HJ-NP-Za-km-z]{32,44}' < pages.txt > pages.ids.txt",
  },
  'two.txt': {
    content: ids.map((id, index) => `${id} ${others[index] ?? ''}\n`).join(''),
    line: "tr -s ', \\t' '\\n' < two.txt > two.ids.txt",
  },
  'long.txt': {
    content: `${a}\n${b} ${c}${' '.repeat(70_000)}\n`,
    line: "tr -s ', \\t' '\\n' < long.txt > long.ids.txt",
  },
  'wide.txt': {
    content: Buffer.from(`\uFEFF${ids.join('\n')}`, 'utf16le'),
    line: 'iconv -f UTF-16 -t UTF-8 < wide.txt > wide.ids.txt',
  },
};

describe('a line for a shell that makes a list', () => {
  it.each(Object.entries(shellLines))(
    'is of a file, or of the copy of an object: %s',
    async (name, { content, line }) => {
      const file = await writeInput(name, content);
      const todoOf = async (input: IdInput) => (await inputError(collect(readIds([input], {})))).todo ?? '';
      const local = await todoOf(file);
      expect(local).toContain(`: ${line}`);
      expect(await todoOf({ ...file, name: `s3://bucket/a/${name}` })).toBe(
        `Copy the object to a local file first. ${local}`,
      );
      expect(await todoOf({ ...file, name: '-' })).not.toContain(' < ');
    },
  );
});

const hasJq = spawnSync('jq', ['--version']).status === 0;

describe('a list inside other JSON', () => {
  it.each(Object.entries(wrapped))('is refused with the line for jq that makes a list: %s', async (name, content) => {
    const { todo } = await refusal(name, name.endsWith('.gz') ? gzipSync(content) : content);
    expect(todo).toMatch(/^Make a list with jq, and use that: (gzip -dc .* \| )?jq -r /);
  });

  it.skipIf(!hasJq)('is made a list by that line, typed as it is printed', async () => {
    for (const [name, content] of Object.entries(wrapped)) {
      const folder = await writeFiles({ [name]: name.endsWith('.gz') ? gzipSync(content) : content });
      const [input] = await expandInputs({ from: [name], baseDir: folder });
      if (input === undefined) throw new Error(`${name} was not found`);
      const { todo = '' } = await inputError(lookAtList(input, {}));
      const line = todo.replace('Make a list with jq, and use that: ', '');
      const typed = spawnSync('sh', ['-c', line], { cwd: folder, encoding: 'utf8' });
      expect(typed.stderr, line).toBe('');
      const made = readdirSync(folder).find((file) => file.endsWith('.ids.txt')) ?? '';
      const inputs = await expandInputs({ from: [made], baseDir: folder });
      expect((await collect(readIds(inputs))).map(({ text }) => text).toSorted(), line).toEqual(ids.toSorted());
    }
  });

  it('is named with how many ids each line gives, members of one shape together', async () => {
    const wallets: unknown = Object.fromEntries(
      ids.map((id, index) => [others[index], { tokens: [id, b], held: [c] }]),
    );
    const { message, todo } = await refusal('a.json', JSON.stringify(wallets));
    expect(message).toContain(
      'the list of ids is inside other JSON: 6 ids at keys_unsorted[], 12 ids at .[].tokens[], 6 ids at .[].held[]',
    );
    expect(todo).toContain("jq -r '.[].tokens[]' < a.json > a.ids.txt");
    const one = JSON.stringify({ [a]: { amount: 2, mints: [b, c] }, [b]: { amount: 1, mints: [a] } });
    expect((await refusal('b.json', one)).message).toContain('inside other JSON: 3 ids at .[].mints[]');
    const big = JSON.stringify({ data: { mints: Array.from({ length: 3000 }, (_, index) => idOf(index)) } });
    expect((await refusal('c.json', big)).message).toMatch(/ ids at \.data\.mints\[\], in the beginning alone$/);
    const records = {
      items: ids.map((id) => ({ id, owner: { address: a }, creator: { address: b }, tree: { address: c } })),
    };
    expect((await refusal('d.json', JSON.stringify(records))).message).toContain(': 6 ids at .items[].id');
  });

  it('is not seen in records that hold other ids', async () => {
    const record = (id: string) =>
      JSON.stringify({
        id,
        ownership: { owner: others[0] },
        creators: [{ address: others[1] }, { address: others[2] }],
      });
    expect(await takenOf('one.json', record(a))).toMatchObject({ column: 'id' });
    expect(await takenOf('all.jsonl', ids.map(record).join('\n'))).toMatchObject({ column: 'id' });
  });
});

describe('a file of unexported ids', () => {
  const header = 'id,outcome,reason,source,line';
  const rows = [
    `${a},missing,not returned,ids.txt,1`,
    `${b},failed,"a, b",ids.txt,2`,
    `oops,invalid,4 bytes,ids.txt,3`,
    `${c},duplicate,seen before,ids.txt,4`,
  ];
  const outcomes = async (outcome?: readonly string[]): Promise<string[]> =>
    (await readFile('part-00000.csv', [header, ...rows].join('\n'), { outcome })).map(({ text }) => text);

  it('gives the ids that are missing or failed', async () => {
    expect(await outcomes()).toEqual([a, b]);
  });

  it('gives those of the outcomes asked for', async () => {
    expect(await outcomes(['failed'])).toEqual([b]);
    expect(await outcomes(['duplicate', 'missing'])).toEqual([a, c]);
    expect((await refusal('p.csv', [header, ...rows].join('\n'), { outcome: ['invalid'] })).message).toContain(
      'p.csv:4: "oops"',
    );
  });

  it('of duplicates alone holds no entry', async () => {
    expect(await readFile('p.csv', [header, rows[3]].join('\n'))).toEqual([]);
  });

  it('is known by all its columns', async () => {
    expect(await readFile('p.csv', `id,outcome\n${a},duplicate\n`)).toHaveLength(1);
  });
});

describe('the first entries alone', () => {
  it.each(Object.entries(tables))('are those of all inputs together: %s', async (name, tableOf) => {
    const rows = (from: readonly string[]): Rows => from.map((id) => ({ id }));
    const inputs = [await writeInput(`1.${name}`, tableOf(rows(ids))), await writeInput(name, tableOf(rows(others)))];
    for (const limit of [1, 6, 8, 100]) {
      const read = await collect(readIds(inputs, { limit }));
      expect(read.map(({ text }) => text)).toEqual([...ids, ...others].slice(0, limit));
    }
  });

  it('are cut within a block, with their hashes, and the fingerprints are of whole files', async () => {
    const many = Array.from({ length: 3000 }, (_, index) => idOf(index));
    const input = await writeInput('a.txt', ['oops', ...many].join('\n'));
    const fingerprints: number[] = [];
    let entries = 0;
    for await (const block of readIds([input, input], {
      limit: 2000,
      onFingerprint: ({ bytes }) => fingerprints.push(bytes),
    })) {
      entries += block.entries.length;
      expect(block.hashes).toHaveLength(4 * block.entries.validBetween(0, block.entries.length));
    }
    expect(entries).toBe(2000);
    const whole = Buffer.byteLength(['oops', ...many].join('\n'));
    expect(fingerprints).toEqual([whole, whole]);
  });
});

// Promise, Nothing misread: Missing id files are reported all at once
it('files of ids that are missing are reported all at once', async () => {
  const baseDir = await writeFiles({ 'there.txt': '' });
  const error = await inputError(expandInputs({ from: ['no.txt', 'there.txt', 'none/*.csv'], baseDir }));
  expect(error.message).toContain('no.txt: no such file');
  expect(error.message).toContain('no file matches none/*.csv');
});

/** Files that users had; they lie beside the project. */
const cases = new URL('../../../../../shared/data/cases/', import.meta.url);

describe('files that users had', () => {
  const found = (): string[] => {
    try {
      return readdirSync(cases).filter((name) => /^d[458]-/.test(name));
    } catch {
      return [];
    }
  };
  it.skipIf(found().length === 0)('are read whole, or refused with what to do', async () => {
    for (const name of found()) {
      const content = readFileSync(new URL(name, cases));
      const read = readFile(name, content);
      if (/wallet|keyed|wrapped/.test(name)) expect((await inputError(read)).todo, name).toMatch(/jq -r|--id-column/);
      else
        expect(
          (await read).map(({ state }) => state),
          name,
        ).toEqual(Array.from({ length: 6 }, () => 'valid'));
    }
  });
});
