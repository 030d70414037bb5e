import { appendFileSync, createWriteStream, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { Zstd } from '@hpcc-js/wasm-zstd';
import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintInputs } from '../../../../src/core/ids/read/input-bytes.ts';
import { expandInputs } from '../../../../src/core/ids/id-input.ts';
import { readIds } from '../../../../src/core/ids/read/read-ids.ts';
import { brief, collect, idOf, inputError, readFile, writeFiles, writeInput } from './id-files.ts';
import { anyCharacter } from '../../../support/any-text.ts';
import { sampled } from '../../../model/support/sample.ts';

const [a, b] = [idOf(1), idOf(2)];
const zstd = await Zstd.load();

async function linesOf(content: string | Uint8Array): Promise<string[]> {
  return brief(await readFile('ids.txt', content));
}

describe('what surrounds an id', () => {
  it.each([
    ['a byte order mark', `\uFEFF${a}\n${b}`],
    ['CRLF', `${a}\r\n${b}\r\n`],
    ['CR', `${a}\r${b}\r`],
    ['no-break and other blanks', `\u00A0${a}\u3000\n\t ${b}\u2028`],
    ['zero-width characters, also within', `\u200B${a.slice(0, 9)}\u200D${a.slice(9)}\n${b}\u2060`],
    ['quotes of every kind', `"${a}"\n\u201C${b}\u201D`],
    ['a quote and a comma, as in a list', `'${a}',\n  \`${b}\` ;`],
  ])('goes: %s', async (_, content) => {
    expect(await linesOf(content)).toEqual([`1 ${a}`, `2 ${b}`]);
  });

  it('leaves nothing of blank lines', async () => {
    expect(await linesOf(`\n \u00A0\n""\n\u200B\n${a}\n\n`)).toEqual([`5 ${a}`]);
    expect(await linesOf('')).toEqual([]);
    for (const name of ['e.csv', 'e.json', 'e.jsonl', 'e.txt.gz', 'e.csv.zst'])
      expect(await readFile(name, '')).toEqual([]);
  });
});

describe('what is no id', () => {
  const keyOf = (length: number): string => bs58.encode(new Uint8Array(length).fill(200));

  it.each([
    ['a key of 31 bytes', keyOf(31), '31 bytes, not 32'],
    ['a key of 33 bytes', keyOf(33), '33 bytes, not 32'],
    ['a signature', keyOf(64), '64 bytes, not 32: a transaction signature?'],
    [
      'a character that base58 leaves out',
      `${a.slice(0, 6)}0${a.slice(7)}`,
      '"0" is not a base58 character (column 7)',
    ],
    [
      'a look-alike letter',
      `${a.slice(0, 6)}\u0430${a.slice(7)}`,
      '"\u0430" (U+0430) is not a base58 character (column 7)',
    ],
    ['a control character', `${a}\u001B[2J`, `U+001B is not a base58 character (column ${a.length + 1})`],
    ['NUL', `${a}\0`, `U+0000 is not a base58 character (column ${a.length + 1})`],
    ['a row of CSV', `${a},Thing #1`, 'an id and more text: is the format csv?'],
    ['JSON', `{"id":"${a}"}`, 'JSON where an id was expected: is the format json or jsonl?'],
    ['a long word', 'x'.repeat(300), '300 characters, but an id has at most 44'],
  ])('is told why: %s', async (_, line, reason) => {
    expect(await linesOf(`${b}\n${line}\n${b}`)).toEqual([`1 ${b}`, `2 !${line.slice(0, 200)}: ${reason}`, `3 ${b}`]);
  });

  it('is told of two ids in one JSON string', async () => {
    const [, both] = brief(await readFile('ids.json', JSON.stringify([a, `${a} ${b}`])));
    expect(both).toBe(`1 !${a} ${b}: two ids in one value?`);
  });

  it('is told of bytes that are not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from(`${a}\n`), Buffer.from([0xff, 0xfe, 0x41]), Buffer.from(`\n${b}`)]);
    const entries = await readFile('ids.txt', bytes);
    expect(entries.map(({ reason }) => reason)).toEqual(['', 'bytes that are not UTF-8', '']);
  });

  it('keeps at most 200 characters of it, well-formed', async () => {
    const entry = fc.string({ unit: anyCharacter, minLength: 150, maxLength: 260 });
    await fc.assert(
      fc.asyncProperty(entry, async (text) => {
        const entries = await readFile('ids.json', JSON.stringify([a, text]));
        for (const kept of entries) {
          expect(kept.text.length).toBeLessThanOrEqual(200);
          expect(Buffer.from(kept.text).toString()).toBe(kept.text);
        }
      }),
      { seed: 41, numRuns: 100 },
    );
    const [, cut] = await readFile('ids.txt', `${a}\n${'x'.repeat(199)}\u{1F600}`);
    expect(cut?.text).toBe('x'.repeat(199));
  });
});

const longLines = [
  { name: 'ids.txt', before: '', after: `\n${a}`, reason: 'a line of more than 65536 bytes' },
  { name: 'ids.csv', before: 'id,n\n', after: `,1\n${a}`, reason: 'a cell of more than 65536 bytes' },
  { name: 'ids.jsonl', before: '"', after: `"\n"${a}"`, reason: 'a value of more than 16777216 bytes' },
  { name: 'ids.json', before: '["', after: `",\n"${a}"]`, reason: 'a value of more than 16777216 bytes' },
];

// Promise, Nothing misread: Odd ids are invalid, with file and line; lines of 100 MB and disguised files do no harm (sampled)
describe('a line of 100 MB', () => {
  it.each(sampled(longLines))(
    'is one invalid entry of $name, and is never held whole',
    async ({ name, before, after, reason }) => {
      const input = await writeInput(name, '');
      const output = createWriteStream(input.path);
      output.write(before);
      const block = Buffer.alloc(1_000_000, 'x');
      for (let turn = 0; turn < 100; turn += 1) output.write(block);
      output.end(after);
      await finished(output);
      const start = process.memoryUsage.rss();
      let peak = start;
      const blocks = readIds([input], { onBytes: () => (peak = Math.max(peak, process.memoryUsage.rss())) });
      const entries = await collect(blocks);
      expect(entries.map((entry) => entry.reason)).toEqual([reason, '']);
      expect(entries[0]?.text).toMatch(/^"?x{199,200}$/);
      expect(peak - start).toBeLessThan(90_000_000);
    },
  );

  it('costs a CSV cell that is not asked for nothing at all', async () => {
    const content = `name,id\n${'x'.repeat(5_000_000)},${a}\n"${'y\n'.repeat(1_000_000)}",${b}\n`;
    expect(brief(await readFile('ids.csv', content))).toEqual([`2 ${a}`, `3 ${b}`]);
  });
});

describe('a file that is not what it seems', () => {
  const refuses = async (name: string, content: string | Uint8Array, message: string): Promise<void> => {
    expect((await inputError(readFile(name, content))).message).toContain(message);
  };

  it('is refused when it is UTF-16, with a mark or without', async () => {
    const text = `${a}\r\n${b}\r\n`;
    const little = Buffer.from(text, 'utf16le');
    const big = Buffer.from(little).swap16();
    for (const bytes of [
      little,
      big,
      Buffer.from(`\uFEFF${text}`, 'utf16le'),
      Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
    ]) {
      for (const name of ['ids.txt', 'ids.csv', 'ids.json']) await refuses(name, bytes, `${name} is UTF-16 text`);
    }
    await refuses('ids.txt', Buffer.from('\uFEFFab', 'utf16le'), 'UTF-16');
  });

  it('is refused when it is compressed, or Parquet, under the name of a text', async () => {
    await refuses('ids.txt', gzipSync(a), 'ids.txt is gzip data, not text');
    await refuses('ids.csv', zstd.compress(Buffer.from(a)), 'ids.csv is zstd data, not text');
    await refuses('ids', 'PAR1....', 'ids is a Parquet file, not text');
    await refuses('ids.csv', 'PK\u0003\u0004....', 'ids.csv is a zip archive');
  });

  it('is refused when it is cut short', async () => {
    const packed = gzipSync(`${a}\n${b}\n`);
    await refuses('ids.txt.gz', packed.subarray(0, -3), 'cannot decompress ids.txt.gz');
    await refuses('ids.txt.zst', zstd.compress(Buffer.from(a)).subarray(0, -3), 'cannot decompress ids.txt.zst');
    await refuses('ids.txt.gz', a, 'cannot decompress ids.txt.gz');
    await refuses('ids.json', `["${a}",\n"${b}"`, 'ids.json:2 is not a list in JSON: the closing ] is missing');
    await refuses('ids.parquet', 'PAR1', 'cannot read ids.parquet as Parquet');
    await refuses('ids.parquet', a, 'cannot read ids.parquet as Parquet');
    await refuses('ids.parquet', '', 'cannot read ids.parquet as Parquet');
  });

  it('is refused when its CSV has a quote without an end', async () => {
    await refuses('ids.csv', `id,n\n${a},x\n${b},"y\n`, 'ids.csv:3: unclosed quote: it opens here');
  });
});

describe('a file that changes', () => {
  it('is refused once it grew, shrank, or holds other bytes, in every format', async () => {
    const text = `${a}\n${b}\n`;
    const changes: ((file: string) => void)[] = [
      (file) => {
        appendFileSync(file, '\n');
      },
      (file) => {
        truncateSync(file, 20);
      },
      (file) => {
        writeFileSync(file, text.replace(a, idOf(3)));
      },
    ];
    for (const change of changes) {
      const input = await writeInput('ids.txt', text);
      const expected = await fingerprintInputs([input]);
      change(input.path);
      expect((await inputError(collect(readIds([input], { expected })))).message).toContain('ids.txt changed');
    }
  });

  it('is refused when it changes behind the reader', async () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => idOf(index)).join('\n');
    const input = await writeInput('ids.txt', ids);
    const expected = await fingerprintInputs([input]);
    let entries = 0;
    const read = async (): Promise<void> => {
      for await (const block of readIds([input], { expected })) {
        if (entries === 0) writeFileSync(input.path, ids.slice(0, -44) + idOf(20_001));
        entries += block.entries.length;
      }
    };
    expect((await inputError(read())).message).toContain('changed while it was read');
    expect(entries).toBeGreaterThan(0);
  });

  it('is refused when it is gone', async () => {
    const folder = await writeFiles({ 'ids.txt': a });
    const inputs = await expandInputs({ from: ['ids.txt'], baseDir: folder });
    const expected = await fingerprintInputs(inputs);
    rmSync(`${folder}/ids.txt`);
    const gone = { exit: 'input', message: 'cannot read ids.txt: no such file' };
    await expect(collect(readIds(inputs, { expected }))).rejects.toMatchObject(gone);
    await expect(fingerprintInputs(inputs)).rejects.toMatchObject(gone);
  });
});
