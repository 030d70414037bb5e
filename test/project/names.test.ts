import { expect, it } from 'vitest';
import { interfacesUsedOnce, sharedNames, sourceFiles } from '../../bench/source-files.ts';

const files = sourceFiles();

it('one exported name belongs to one file', () => {
  expect(Object.fromEntries(sharedNames(files))).toEqual({});
});

it('a function takes parameters, not an interface that nothing else names', () => {
  expect(Object.fromEntries(interfacesUsedOnce(files))).toEqual({});
});
