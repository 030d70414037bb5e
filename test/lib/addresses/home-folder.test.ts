import { afterEach, expect, it, vi } from 'vitest';
import { localFolder } from '../../../src/core/run/homes/export-place.ts';
import { requireAddress } from '../../../src/lib/addresses/address.ts';
import { stateFolder } from '../../../src/world/open-service.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const surroundings = { env: {}, cwd: () => '/work' };

const places = [
  { what: 'the ledger', at: () => stateFolder(undefined, surroundings), instead: 'ASSET_EXPORT_STATE' },
  { what: 'the scratch folder', at: () => localFolder({ output: { dir: 's3://bucket/x' } }), instead: '--scratch' },
  { what: 'a path with ~', at: () => requireAddress('~/ids.txt', 'local', '--ids'), instead: 'the whole path' },
];

it.each(places)('$what of a user without a home is refused, and says what to name', ({ at, instead }) => {
  vi.stubEnv('XDG_CACHE_HOME', '');
  for (const home of ['', 'relative']) {
    vi.stubEnv('HOME', home);
    const todo = expect.stringContaining(instead) as string;
    expect(at).toThrow(expect.objectContaining({ exit: 'usage', todo }) as Error);
  }
  vi.stubEnv('HOME', '/home/one');
  expect(at()).toMatch(/^\/home\/one\//);
});
