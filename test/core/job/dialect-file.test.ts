import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readNamedDialect } from '../../../src/core/job/dialect-file.ts';
import { asksAlone, dialectOf, mostIdsPerCall, priceSource } from '../../../src/core/job/job-dialect.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** The dialect of a file. */
function dialectIn(path: string) {
  return dialectOf(readNamedDialect(path, '/here'));
}

async function fileWith(text: string): Promise<string> {
  const path = join(await tempFolder(), 'provider.yaml');
  writeFileSync(path, text);
  return path;
}

describe('a dialect', () => {
  it('without a name is that of the specification', () => {
    expect(dialectOf(undefined)).toBe(dialectOf('metamask'));
  });

  it('from a file is another one, but for what the file says', async () => {
    const dialect = dialectIn(await fileWith('like: helius\nmany: getMany\nidsPerCall: 100\n'));
    expect(dialect).toEqual({ ...dialectOf('helius'), many: 'getMany', idsPerCall: 100, name: 'provider.yaml' });
  });

  it('from a file requests lists as the other one, but for what the file says', async () => {
    const priced = 'priced: {source: a contract, day: 2026-01-01}\n';
    const { list } = dialectIn(
      await fileWith(
        `like: helius\n${priced}list:\n  tree: getAssetsByTree\n  owner: none\n  sort: {sortBy: key, sortDirection: asc}\n  flags: []\n  creditsPerPage: 3\n`,
      ),
    );
    expect(list).toEqual({
      ...dialectOf('helius').list,
      tree: 'getAssetsByTree',
      owner: undefined,
      sort: { sortBy: 'key', sortDirection: 'asc' },
      flags: [],
      flagsOwner: [],
      creditsPerPage: 3,
    });
    expect(dialectIn(await fileWith('like: helius\n')).list).toEqual(dialectOf('helius').list);
    expect(dialectIn(await fileWith('like: helius\nlist: none\n')).list).toBeUndefined();
  });

  it('from a file takes over nothing that a source states of the other one', async () => {
    const priced = 'priced: {source: a contract, day: 2026-01-01}\n';
    const countsOf = async (text: string) => dialectIn(await fileWith(`like: reference\n${text}`)).list?.totalCounts;
    expect(dialectOf('reference').list?.totalCounts).toBe('rows');
    expect(await countsOf('')).toBeUndefined();
    expect(await countsOf(`${priced}list: {creditsPerPage: 0}\n`)).toBeUndefined();
    expect(await countsOf(`${priced}list: {totalCounts: rows, creditsPerPage: 0}\n`)).toBe('rows');
  });

  it('from a file with a price of a call has that of a page too, unless it has one', async () => {
    const text = 'like: reference\ncreditsPerCall: 25\npriced: {source: a contract, day: 2026-01-01}\n';
    expect(dialectIn(await fileWith(text)).list?.creditsPerPage).toBe(25);
    expect(dialectIn(await fileWith(`${text}list: {creditsPerPage: 5}\n`)).list?.creditsPerPage).toBe(5);
    expect(dialectIn(await fileWith('like: helius\n')).list?.creditsPerPage).toBe(10);
  });

  it.each([
    ['like: helios', /provider.yaml:1:1: like must be one of metamask, .*; did you mean helius\?/],
    ['mnay: x', /:1:1: unknown field "mnay"; did you mean many\?/],
    ['path: v3/{key}', /:1:1: path must begin with \//],
    ['path: /{key}/{key}', /path must have \{key\} at most once/],
    ['path: /rpc\nheader: "X: {key} {key}"', /:2:1: header must have \{key\} once/],
    ['path: "/{key}"\nheader: "X: {key}"', /:2:1: header must be absent where path has \{key\}/],
    ['header: "X: {key}"', /:1:1: header goes with a path without \{key\}, and that is \/v3\/\{key\}/],
    ['path: "/a-{key}-b"', /:1:1: path must have \{key\} as a whole segment/],
    ['path: "/{key}/{other}"', /:1:1: path must have \{key\} as a whole segment/],
    ['path: "/?{key}=1"', /:1:1: path must have \{key\} as a whole segment/],
    ['path: "/?a=b{key}"', /:1:1: path must have \{key\} as a whole segment/],
    ['path: /rpc\nheader: "Content-Type: {key}"', /:2:1: header must be another one/],
    ['path: /rpc\nheader: "host: {key}"', /:2:1: header must be another one/],
    ['spentWords: [no]', /:1:14: spentWords.0 must be at least 3 characters long, not "no"/],
    ['list: &a {flags: *a}', /:1:18: \*a is an alias of what it is in/],
    ['like: &a [*a]', /:1:11: \*a is an alias of what it is in/],
    ['- like\n- helius', /provider.yaml: a dialect must be a map of fields \(like, path, many\), not a list/],
    [
      [
        'a0: &a0 [x,x,x,x,x,x,x,x,x,x]',
        ...Array.from({ length: 8 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(10)}]`),
      ].join('\n'),
      /provider.yaml: its YAML aliases stand for too much/,
    ],
    ['params: byName', /params must be one of positional, named/],
    ['creditsPerCall: 5', /creditsPerCall needs priced: \{source, day\}/],
    [
      'creditsPerCall: -5\npriced: {source: a, day: yesterday}',
      /errors:[^]*creditsPerCall must be at least 0[^]*priced.day/,
    ],
    ['flagsMany: [showAll]', /flagsMany.0 must be one of showFungible/],
    ['url: https://a.example/?x=1', /url must be a base address/],
    ['priced: {sorce: a, day: 2026-01-01}', /:1:\d+: unknown field "priced.sorce"; did you mean source\?/],
    ['like: helius\nlist: {limit: 500}', /:2:\d+: list.creditsPerPage is missing/],
    [
      'list:\n  lmiit: 500\n  limit: 50\n  next: last\n  sort: {sortby: id, sortDirection: up}\n  creditsPerPage: 1',
      /:5:22: list.sort.sortDirection must be one of asc, desc[^]*:4:3: list.next must be one of after[^]*:3:3: list.limit must be at least 100[^]*:2:3: unknown field "list.lmiit"; did you mean limit\?/,
    ],
    ['list: {creditsPerPage: 5}', /list.creditsPerPage needs priced: \{source, day\}/],
    [
      'list: {ends: token, totalCounts: rows, creditsPerPage: 0}\npriced: {source: a, day: 2026-01-01}',
      /list.ends goes with next: cursor\n[^]*list.totalCounts goes with a total/,
    ],
    [
      'like: helius\nparams: positional\nlist: {next: cursor, creditsPerPage: 0}\npriced: {source: a, day: 2026-01-01}',
      /list.next cursor goes with params: named[^]*list.total showGrandTotal goes with[^]*list.flags goes with/,
    ],
  ])('of the file %j is refused with its place', async (text, message) => {
    const path = await fileWith(`${text}\n`);
    expect(() => dialectIn(path)).toThrow(
      expect.objectContaining({ exit: 'usage', message: expect.stringMatching(message) as string }) as Error,
    );
  });

  it('that nobody knows is refused with the nearest name', () => {
    expect(() => dialectOf('alchmy')).toThrow('unknown dialect alchmy; did you mean alchemy?');
    expect(() => dialectIn('none.yaml')).toThrow('cannot read the dialect /here/none.yaml: it does not exist');
  });
});

describe('a job with a dialect', () => {
  const load = (flags: Readonly<Record<string, unknown>>) =>
    loadJob({ flags: { ids: 'ids.txt', out: 'out', ...flags }, folder: '/here' }).job;

  it('takes address and price from it, where it says nothing itself', () => {
    const job = load({ dialect: 'helius' });
    expect(job.service.url).toBe('https://mainnet.helius-rpc.com');
    expect(job.budget.creditsPerCall).toBe(10);
    expect(priceSource(job)).toBe('Helius credits, read 2026-01-16');
    const own = load({ dialect: 'helius', url: 'https://rpc.example/v3/', 'credits-per-call': '12' });
    expect([own.service.url, own.budget.creditsPerCall, priceSource(own)]).toEqual([
      'https://rpc.example/v3/',
      12,
      'your job',
    ]);
  });

  it('without one is what it was: an address is required', () => {
    expect(() => load({})).toThrow('service.url (or --url) is missing');
    expect(load({ url: 'https://rpc.example' }).budget.creditsPerCall).toBe(160);
    expect(() => load({ url: 'https://rpc.example/v3' })).toThrow('already holds /v3');
    expect(() => load({ url: 'https://rpc.example/v2', dialect: 'alchemy' })).toThrow('already holds /v2');
    expect(() => load({ dialect: 'triton' })).toThrow('service.url (or --url) is missing');
  });

  it('asks for no id alone where the method for many knows the flag', () => {
    const flags = { url: 'https://rpc.example', 'show-unverified-collections': true };
    expect(asksAlone(load(flags))).toBe(true);
    expect(asksAlone(load({ ...flags, dialect: 'helius' }))).toBe(false);
  });

  it('asks for fewer ids a call where the dialect takes fewer', async () => {
    const dialect = await fileWith('like: triton\nidsPerCall: 100\n');
    const job = load({ url: 'https://rpc.example', dialect });
    expect([job.service.idsPerCall, mostIdsPerCall(job, [undefined]), mostIdsPerCall(job, [50])]).toEqual([
      1000, 100, 50,
    ]);
    expect(mostIdsPerCall(load({ url: 'https://rpc.example' }), [])).toBeUndefined();
  });
});
