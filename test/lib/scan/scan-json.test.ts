import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanJson, type ScanJsonOptions } from '../../../src/lib/scan/scan-json.ts';
import { readSizes, scan } from '../in-pieces.ts';

function elementsOf(
  text: string,
  sizes: readonly number[] = [7],
  more: Partial<Pick<ScanJsonOptions, 'longest' | 'opensInner' | 'onArray'>> = {},
): string[] {
  const elements: string[] = [];
  const scanner = scanJson({
    longest: 100_000,
    ...more,
    onElement: ({ bytes, start, end, line, cut }) => {
      elements.push(`${line}${cut ? '…' : ''} ${bytes.toString('utf8', start, end)}`);
    },
    fault: (why, line) => new Error(`${line}: ${why}`),
  });
  scan(scanner, Buffer.from(text), sizes);
  return elements;
}

const values = fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 8 });

describe('scanJson', () => {
  it.each(['[', '{"a":', '[{"a":[', ' [\n'])('refuses values that are nested deeper than 1,000 levels: %s', (open) => {
    const levels = open.replaceAll(/[^[{]/g, '').length;
    expect(() => elementsOf(open.repeat(1000 / levels), [100], { opensInner: true })).toThrow('is missing');
    expect(() => elementsOf(open.repeat(1000 / levels + 1), [100], { opensInner: true })).toThrow('nested deeper');
  });

  it('finds the elements of any array, whatever the reads are cut into', () => {
    fc.assert(
      fc.property(values, fc.constantFrom(0, 1, 3), readSizes, (array, indent, sizes) => {
        const text = JSON.stringify(array, undefined, indent);
        const elements = elementsOf(text, sizes).map((element): unknown =>
          JSON.parse(element.slice(element.indexOf(' ') + 1)),
        );
        // Through text, as that turns -0 into 0.
        expect(elements).toEqual(JSON.parse(text));
      }),
      { seed: 32, numRuns: 1000 },
    );
  });

  it('tells the line on which each element starts, for every kind of line end', () => {
    for (const end of ['\n', '\r', '\r\n']) {
      const text = ['[', '"a",', '', ' {"b":', '1}, "c"', ',"d" ]', ''].join(end);
      for (const sizes of [[1], [2], [3], [1000]]) {
        expect(elementsOf(text, sizes)).toEqual(['2 "a"', `4 {"b":${end}1}`, '5 "c"', '6 "d"']);
      }
    }
  });

  it('takes quotes, brackets and commas in strings for what they are', () => {
    const array = ['a,b', ']', '\\', '\\"', '"', '{"[', '\\\\"', '\n'];
    const elements = elementsOf(JSON.stringify(array), [1]);
    expect(elements.map((element): unknown => JSON.parse(element.slice(2)))).toEqual(array);
  });

  it('passes over an empty place and a comma at the end', () => {
    expect(elementsOf('["a",,"b",]')).toEqual(['1 "a"', '1 "b"']);
    expect(elementsOf('[ ]')).toEqual([]);
    expect(elementsOf(' \n')).toEqual([]);
  });

  it('keeps only the beginning of an element that is too long', () => {
    const text = `["${'x'.repeat(100)}", "b"]`;
    for (const sizes of [[1], [9], [1000]])
      expect(elementsOf(text, sizes, { longest: 10 })).toEqual([`1… "${'x'.repeat(9)}`, '1 "b"']);
  });

  it('reads arrays and objects that follow one another', () => {
    const text = '["a",{"b":"}"}]\n["c"]\n{"d":["]"]}{"e":1} , {"f":"\\""}\n';
    for (const sizes of [[1], [2], [3], [1000]]) {
      expect(elementsOf(text, sizes)).toEqual([
        ...['1 "a"', '1 {"b":"}"}', '2 "c"', '3 {"d":["]"]}', '3 {"e":1}', '3 {"f":"\\""}'],
      ]);
    }
  });

  it('opens arrays in an array where it is told to, and gives the lengths of all', () => {
    const lengths: number[] = [];
    const open = { opensInner: true, onArray: (elements: number) => lengths.push(elements) };
    for (const sizes of [[1], [1000]])
      expect(elementsOf('[["a","b"],[],[["c"]], {"d":[1]}]', sizes, open)).toEqual([
        ...['1 "a"', '1 "b"', '1 "c"', '1 {"d":[1]}'],
      ]);
    expect(lengths).toEqual([2, 0, 1, 0, 1, 2, 0, 1, 0, 1]);
  });

  it('refuses text outside of arrays and objects, and an array or object without an end, with the line', () => {
    expect(() => elementsOf('\nx')).toThrow('2: unexpected text outside of [ ] and { }');
    expect(() => elementsOf('{"a":1')).toThrow('1: the closing } is missing');
    expect(() => elementsOf('["a",\n"b"')).toThrow('2: the closing ] is missing');
    expect(() => elementsOf('["a",\n"b]')).toThrow('2: the closing ] is missing');
    expect(() => elementsOf('["a"]\n\n"b"')).toThrow('3: unexpected text');
  });
});
