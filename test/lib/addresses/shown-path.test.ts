import { expect, it } from 'vitest';
import { nearestName } from '../../../src/lib/format-text.ts';
import { commandLine, shellWord, shownPath, withShownPaths } from '../../../src/lib/addresses/shown-text.ts';

it('a path is shown from the working directory or from the root, whichever is shorter', () => {
  expect(shownPath('/srv/a/out', '/srv/a')).toBe('out');
  expect(shownPath('/srv/a', '/srv/a')).toBe('.');
  expect(shownPath('/tmp/o', '/srv/a/b/c')).toBe('/tmp/o');
  expect(shownPath('/srv/a/o', '/srv/a/b')).toBe('../o');
  // `asset-export verify -x` would read a flag.
  expect(shownPath('/srv/a/-x', '/srv/a')).toBe('./-x');
});

it('a message names paths from the working directory', () => {
  const shown = (message: string): string => withShownPaths(message, '/srv/a');
  expect(shown('/srv/a/out/x.csv is damaged: see /srv/a/out')).toBe('out/x.csv is damaged: see out');
  expect(shown(`See: ${commandLine('verify', '/srv/a/my out')}`)).toBe("See: asset-export verify 'my out'");
  expect(shown('load to duckdb:/srv/a/b.duckdb (/srv/a/x)')).toBe('load to duckdb:b.duckdb (x)');
  expect(shown('verify /srv/a/-x')).toBe('verify ./-x');
  for (const other of ['/srv/a is empty', '/srv/ab/c', 's3://b/srv/a/c', 'file:///srv/a/c', '/srv/a//x', '/srv/a/ x'])
    expect(shown(other)).toBe(other);
  expect(withShownPaths('/x/y is absent', '/')).toBe('/x/y is absent');
});

it('a word is quoted for a shell only where it must be', () => {
  expect(shellWord('out/x-1_2.csv')).toBe('out/x-1_2.csv');
  expect(shellWord('a b')).toBe("'a b'");
  expect(shellWord('$HOME')).toBe("'$HOME'");
  expect(shellWord('')).toBe("''");
});

// Promise, The first hour: Swapped letters in commands and flags get a suggestion
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
