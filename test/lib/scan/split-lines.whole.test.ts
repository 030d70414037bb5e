import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitLines } from '../../../src/lib/scan/split-lines.ts';
import { readSizes, scan } from '../in-pieces.ts';

function linesOf(text: string, sizes: readonly number[], longest = 1000): string[] {
  const lines: string[] = [];
  const scanner = splitLines({
    longest,
    onLine: ({ bytes, start, end, line, cut }) => {
      lines.push(`${line}${cut ? '…' : ''} ${bytes.toString('utf8', start, end)}`);
    },
  });
  scan(scanner, Buffer.from(text), sizes);
  return lines;
}

/** What a reader of the whole text at once finds. */
function oracle(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, index) => `${index + 1} ${line}`);
}

const text = fc
  .array(fc.constantFrom('\n', '\r', '\r\n', 'a', 'bc', 'é', '\t'), { maxLength: 60 })
  .map((words) => words.join(''));

describe('splitLines', () => {
  it('finds the same lines whatever the reads are cut into', () => {
    fc.assert(
      fc.property(text, readSizes, (all, sizes) => {
        expect(linesOf(all, sizes)).toEqual(oracle(all));
      }),
      { seed: 30, numRuns: 2000 },
    );
  });

  it('keeps the beginning of a line that is too long, and all of one that is not, however they are read', () => {
    fc.assert(
      fc.property(fc.nat(60), readSizes, (length, sizes) => {
        const all = `${'x'.repeat(length)}\nnext`;
        const cut = length > 20;
        const first = length === 0 ? '1 ' : `1${cut ? '…' : ''} ${'x'.repeat(Math.min(20, length))}`;
        expect(linesOf(all, sizes, 20)).toEqual([first, '2 next']);
      }),
      { seed: 31, numRuns: 500 },
    );
  });

  it('finds the same lines where some are taken as they start', () => {
    const taking = (all: string, sizes: readonly number[]): string[] => {
      const lines: string[] = [];
      const scanner = splitLines({
        longest: 1000,
        onStart: (span) => {
          const { bytes, start, line } = span;
          const end = start + 2;
          if (bytes.toString('latin1', start, end) !== 'bc' || !/^[\n\r]/.test(bytes.toString('latin1', end)))
            return false;
          span.end = end;
          lines.push(`${line} bc`);
          return true;
        },
        onLine: ({ bytes, start, end, line }) => lines.push(`${line} ${bytes.toString('utf8', start, end)}`),
      });
      scan(scanner, Buffer.from(all), sizes);
      return lines;
    };
    fc.assert(
      fc.property(text, readSizes, (all, sizes) => {
        expect(taking(all, sizes)).toEqual(oracle(all));
      }),
      { seed: 46, numRuns: 2000 },
    );
  });

  it('holds no more of a line of 100 MB than it was told to keep', () => {
    const piece = Buffer.alloc(1_000_000, 'x');
    const seen: string[] = [];
    const scanner = splitLines({
      longest: 1000,
      onLine: ({ start, end, cut, bytes }) => seen.push(`${end - start} ${cut} ${bytes.length}`),
    });
    const before = process.memoryUsage().arrayBuffers;
    for (let turn = 0; turn < 100; turn += 1) scanner.push(piece);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
    scanner.end();
    expect(seen).toEqual(['1000 true 1000']);
  });
});
