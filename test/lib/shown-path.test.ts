import { expect, it } from 'vitest';
import { nearestName } from '../../src/lib/nearest-name.ts';
import { shellWord, shownPath } from '../../src/lib/shown-path.ts';

it('a path is shown from the working directory or from the root, whichever is shorter', () => {
  expect(shownPath('/srv/a/out', '/srv/a')).toBe('out');
  expect(shownPath('/srv/a', '/srv/a')).toBe('.');
  expect(shownPath('/tmp/o', '/srv/a/b/c')).toBe('/tmp/o');
  expect(shownPath('/srv/a/o', '/srv/a/b')).toBe('../o');
  // `asset-export verify -x` would read a flag.
  expect(shownPath('/srv/a/-x', '/srv/a')).toBe('./-x');
});

it('a word is quoted for a shell only where it must be', () => {
  expect(shellWord('out/x-1_2.csv')).toBe('out/x-1_2.csv');
  expect(shellWord('a b')).toBe("'a b'");
  expect(shellWord('$HOME')).toBe("'$HOME'");
  expect(shellWord('')).toBe("''");
});

it('a name is guessed only when one is near', () => {
  expect(nearestName('form', ['from', 'format'])).toBe('from');
  expect(nearestName('idsPerCal', ['idsPerCall', 'url'])).toBe('idsPerCall');
  expect(nearestName('colour', ['ids', 'service'])).toBeUndefined();
  expect(nearestName('abc', [])).toBeUndefined();
  // Two letters that changed places are one mistake.
  expect(nearestName('rnu', ['get', 'run'])).toBe('run');
  expect(nearestName('ulr', ['out', 'url'])).toBe('url');
  expect(nearestName('a'.repeat(1e6), ['url'])).toBeUndefined();
});
