import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Row } from '../../src/core/records/table.ts';
import { messageOf } from '../../src/lib/export-error.ts';
import { JsonLineCounter } from '../../src/exports/json-line-counter.ts';
import { anyRows } from '../contract/formats/any-rows.ts';
import { encodeFile } from '../contract/formats/encoded-file.ts';
import { hostileRows, hostileTable } from '../contract/formats/hostile-rows.ts';
import { readSizes, scan } from '../lib/in-pieces.ts';

/** Rows and keys, or what is wrong. */
function counted(
  bytes: Uint8Array,
  sizes: readonly number[],
): { rows: number; keys: readonly string[] | undefined } | string {
  const counter = new JsonLineCounter();
  try {
    scan(counter, bytes, sizes);
    return { rows: counter.rows, keys: counter.keys };
  } catch (error) {
    return messageOf(error);
  }
}

describe('JsonLineCounter', () => {
  it('counts what the JSONL sink writes as JSON.parse does, whatever the reads are cut into', async () => {
    const { columns } = hostileTable;
    const check = async (rows: readonly Row[], sizes: readonly number[]): Promise<void> => {
      const { bytes } = await encodeFile('jsonl', rows, { columns });
      const lines = bytes.toString('utf8').split('\n').slice(0, -1);
      const objects = lines.map((line) => JSON.parse(line) as object);
      const keys = objects[0] && Object.keys(objects[0]);
      expect(counted(bytes, sizes)).toEqual({ rows: objects.length, keys });
    };
    await check(hostileRows(columns), [65_536]);
    await fc.assert(fc.asyncProperty(anyRows(columns, 4), readSizes, check), { seed: 43, numRuns: 100 });
  });

  it('tells lines without braces at their ends, and a last line without an end, wherever they stand', () => {
    const line = fc.constantFrom('{}', '{"a":1}', '{"a":"}{"}', '', '[]', '1', 'null', ' {}', '{} ', '{', '}', '{}\r');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.boolean(), readSizes, (lines, isCut, sizes) => {
        const text = lines
          .map((each) => `${each}\n`)
          .join('')
          .slice(0, isCut ? -1 : undefined);
        const whole = text.split('\n');
        const rest = whole.pop() ?? '';
        const bad = whole.findIndex((each) => !/^\{.*\}$/.test(each));
        const found = counted(Buffer.from(text), sizes);
        if (bad >= 0) expect(found).toBe(`line ${bad + 1} is not a JSON object`);
        else if (rest.startsWith('{')) expect(found).toBe('the last line is truncated');
        else if (rest !== '') expect(found).toBe(`line ${whole.length + 1} is not a JSON object`);
        else expect(found).toMatchObject({ rows: whole.length });
      }),
      { seed: 44, numRuns: 5_000 },
    );
  });

  it('parses the first line however it is cut, and the first whole line of each piece', () => {
    const broken = '{"a":1,}';
    expect(counted(Buffer.from(`${broken}\n{}\n`), [3])).toBe('line 1 is not a JSON object');
    // Pieces of three lines: the fourth is the first of the second.
    const lines = ['{"a":11}', '{"a":12}', '{"a":13}', broken, '{"a":15}'];
    expect(counted(Buffer.from(`${lines.join('\n')}\n`), [27])).toBe('line 4 is not a JSON object');
  });
});
