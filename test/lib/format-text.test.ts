import { describe, expect, it } from 'vitest';
import { byteSize, count, duration, plural, printable, share, withoutMiddle } from '../../src/lib/format-text.ts';

describe('numbers for people', () => {
  it('group their digits', () => {
    expect([count(0), count(999), count(1234567.4)]).toEqual(['0', '999', '1,234,567']);
  });

  it('take the noun in its number', () => {
    expect([plural(1, 'file'), plural(0, 'file'), plural(1200, 'file')]).toEqual(['1 file', '0 files', '1,200 files']);
  });

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.00 kB'],
    [99_949, '99.9 kB'],
    [999_499, '999 kB'],
    [999_500, '1.00 MB'],
    [3_870_000, '3.87 MB'],
    [5e15, '5.00 PB'],
    [5e18, '5000 PB'],
  ])('say %d bytes as %s', (bytes, text) => {
    expect(byteSize(bytes)).toBe(text);
  });

  it.each([
    [-5, '0 ms'],
    [350, '350 ms'],
    [1000, '1.0 s'],
    [59_949, '59.9 s'],
    [59_960, '1 min'],
    [245_000, '4 min 5 s'],
    [3_600_000, '1 h'],
    [11_520_000, '3 h 12 min'],
    [187_200_000, '2 d 4 h'],
  ])('say %d ms as %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it.each([
    [0, 0, '100 %'],
    [0, 5, '0 %'],
    [1, 1000, '0.1 %'],
    [62, 100, '62 %'],
    [9999, 10_000, '99 %'],
    [7, 7, '100 %'],
  ])('say %d of %d as %s, and 100 %% only when it is all', (part, whole, text) => {
    expect(share(part, whole)).toBe(text);
  });
});

it('names from outside cannot steer a terminal', () => {
  expect(printable('a\u001b[31mred\u0007\nb\u009b')).toBe(String.raw`a\x1b[31mred\x07\x0ab\x9b`);
});

it('a long text keeps its ends', () => {
  expect(withoutMiddle('abc', 3)).toBe('abc');
  expect(withoutMiddle('abcdefghij', 8)).toBe('abcdef … ij');
  expect(withoutMiddle(`a${'🎉'.repeat(300)}`, 8)).toBe('a🎉🎉\uFFFD … 🎉');
});
