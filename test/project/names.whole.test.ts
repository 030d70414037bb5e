import { expect, it } from 'vitest';
import {
  interfacesUsedOnce,
  longFunctions,
  mostLinesOfFunction,
  sharedNames,
  sourceFiles,
} from '../../bench/source-files.ts';

const files = sourceFiles();

it('one exported name belongs to one file', () => {
  expect(Object.fromEntries(sharedNames(files))).toEqual({});
});

it('a function takes parameters, not an interface that nothing else names', () => {
  expect(Object.fromEntries(interfacesUsedOnce(files))).toEqual({});
});

it(`a function has at most ${mostLinesOfFunction} lines, except the scanners, which are hot loops`, () => {
  expect(longFunctions(files).map(({ file, name }) => `${file}: ${name}`)).toEqual([
    'lib/scan/scan-csv.ts: scanCsv',
    'lib/scan/scan-json.ts: scanJson',
    'lib/scan/split-lines.ts: splitLines',
  ]);
});
