import { expect, it } from 'vitest';
import { sharedNames, sourceFiles } from '../../bench/source-files.ts';

it('one exported name belongs to one file', () => {
  expect(Object.fromEntries(sharedNames(sourceFiles()))).toEqual({});
});
