import { describe, expect, it } from 'vitest';
import { ExportError } from '../../../src/lib/export-error.ts';
import { parseJobFile } from '../../../src/core/job/parse-job-file.ts';

function valueOf(text: string, environment: Record<string, string> = {}): unknown {
  return parseJobFile(text, 'j.yaml', environment).value;
}

describe('a job file', () => {
  it('may be JSON', () => {
    expect(valueOf('{"ids": {"from": ["a"]}}')).toEqual({ ids: { from: ['a'] } });
  });

  it('may be empty, and then says nothing', () => {
    expect(valueOf('# only a comment\n')).toEqual({});
  });

  it('takes names from the environment inside texts', () => {
    expect(valueOf('a: x-${DAY}-${HOST:-here}\n', { DAY: 'monday' })).toEqual({ a: 'x-monday-here' });
  });

  it('takes the default for a name that is set to nothing', () => {
    expect(valueOf('a: "${DAY:-none}"\n', { DAY: '' })).toEqual({ a: 'none' });
  });

  it('gives a number or a boolean where a name alone stands without quotes', () => {
    const environment = { N: '12', B: 'true' };
    expect(valueOf('a: ${N}\nb: "${N}"\nc: ${B}\n', environment)).toEqual({ a: 12, b: '12', c: true });
  });

  it('leaves the names of fields and other dollars alone', () => {
    expect(valueOf('${A}: $B $\n', { A: 'x', B: 'y' })).toEqual({ '${A}': '$B $' });
  });

  it('says where a name stands that is not set', () => {
    expect(() => valueOf('a:\n  b: ${NOPE}\n')).toThrow('j.yaml:2:6: the environment variable NOPE is not set');
  });

  it('says where all names stand that are not set', () => {
    expect(() => valueOf('a: ${NOPE}\nb: ${NEITHER}\n')).toThrow(/j\.yaml:1:4: .*NOPE[^]*j\.yaml:2:4: .*NEITHER/);
  });

  it.each([
    ['a: ${A:-${B}}\n', 'nests a variable in a variable'],
    ['a: x\nb: "${A:-${B:-c}}"\n', 'nests a variable in a variable'],
    ['a: ${A-b}\n', '${A-b} is not a valid variable'],
    ['a: "${A"\n', '${A is not a valid variable'],
    // Promise, Nothing misread: `${A:-${B}}` and `from: *.txt` are errors of the job, with place and advice
  ])('refuses a variable that is not one, with its place: %j', (text, words) => {
    const place = text.startsWith('a: x') ? 'j.yaml:2:4: ' : 'j.yaml:1:4: ';
    expect(() => valueOf(text, { A: 'set', B: 'set' })).toThrow(place);
    expect(() => valueOf(text, { A: 'set', B: 'set' })).toThrow(words);
  });

  it.each([
    ['ids:\n  from: *.txt\n', 'j.yaml:2:9: *.txt is a YAML alias', 'Quote it: "*.txt"'],
    ['ids: { from: [a.txt, **/*.csv] }\n', 'j.yaml:1:22: **/*.csv is a YAML alias', 'Quote it: "**/*.csv"'],
    ['a: 1\nb: *\n', 'j.yaml:2:4: * is a YAML alias', 'Quote it: "*"'],
  ])('says that a pattern has to be quoted, with its place: %j', (text, message, todo) => {
    expect(() => valueOf(text)).toThrow(new ExportError('usage', `${message}, not a text`, { todo }));
  });

  it.each([
    ['a: x\nb: "no\n  more: 1\nc: d\n', 'j.yaml:2:4: '],
    ["a: 'x\nb: 1\n", 'j.yaml:1:4: '],
    ['a: ["x, y]\nb: "z"\n', 'j.yaml:1:5: '],
  ])('says where a quote begins that is not closed: %j', (text, place) => {
    expect(() => valueOf(text)).toThrow(`${place}the quote opened here is not closed`);
  });

  it('says where it is no YAML', () => {
    expect(() => valueOf('a: [1, 2\nb: 3\n')).toThrow(/^j\.yaml:2:1: /);
    expect(() => valueOf('a: 1\na: 2\n')).toThrow(/^j\.yaml:2:1: /);
  });

  it('is refused when it is a list or a text', () => {
    expect(() => valueOf('- a\n')).toThrow('a job file must be a map of fields');
    expect(() => valueOf('hello\n')).toThrow('a job file must be a map of fields');
  });

  it('knows where each field stands, and the nearest one above what is not there', () => {
    const file = parseJobFile('ids:\n  from:\n    - a\n    - b\nservice: {}\n', 'j.yaml', {});
    expect(file.whereIs(['ids', 'from', 1])).toBe('j.yaml:4:7');
    expect(file.whereIs(['service', 'url'])).toBe('j.yaml:5:1');
    expect(file.whereIs(['output', 'dir'])).toBe('j.yaml:1:1');
  });
});
