import { readFile, stat, writeFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ExportError } from '../../../src/lib/export-error.ts';
import { idOfBytes } from '../../../src/lib/ids/asset-id.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { bytesOfKey } from '../../../src/wings/listing/walk/keys.ts';
import { type ListAccount, listStatus } from '../../../src/wings/listing/index.ts';
import { sampled } from '../../model/support/sample.ts';
import { listHere } from '../../support/listing/list-here.ts';
import { ListWire } from '../../support/listing/list-wire.ts';
import { SimulatedIndex } from '../../support/listing/simulated-index.ts';

function membersOf(index: SimulatedIndex): string[] {
  return [...index.members].map((key) => idOfBytes(bytesOfKey(key << 192n)));
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

describe('a list', () => {
  it('holds every member once, sorted by bytes, beside its account', async () => {
    const index = new SimulatedIndex({ rows: 2500, seed: 1 });
    const wire = new ListWire(index, { total: () => index.members.size });
    const list = await listHere(wire);
    const { account, error } = await list.run();
    expect(error).toBeUndefined();
    // The index keeps its rows in order.
    expect(await list.ids()).toEqual(membersOf(index));
    const written = JSON.parse(await readFile(`${list.out}.json`, 'utf8')) as ListAccount;
    expect(written).toEqual(account);
    expect(written).toMatchObject({
      kind: 'asset-export ids',
      filter: { by: 'collection', onlyVerified: false },
      dialect: 'helius',
      origin: 'http://127.0.0.1:1',
      members: 2500,
      inErrors: 0,
      totals: [2500, 2500],
      proof: 'total',
      without: 'burnt',
      pages: 3,
      emptyPages: 1,
      calls: 5,
      credits: 50,
      price: { creditsPerPage: 10, source: 'Helius credits', day: '2026-01-16' },
    });
    // Before the first call, and with the total: three full pages and 3, half of them, 12 for each, and 64 + 4 × 3 empty ones.
    const ceilings = list.events.filter(({ kind }) => kind === 'ceiling');
    expect(ceilings).toEqual([
      { kind: 'ceiling', calls: 128, empty: 64, total: undefined },
      { kind: 'ceiling', calls: 157, empty: 76, total: 2500 },
    ]);
    expect(await exists(`${list.out}.ids`)).toBe(false);
    expect(await list.ledger.booked('2026-03-14')).toBe(50);
  });

  it('has the same bytes, whatever the concurrency and the order of ids', async () => {
    const lists: (string[] | undefined)[] = [];
    for (const direction of ['rising', 'falling'] as const)
      for (const concurrency of ['1', '8']) {
        const index = new SimulatedIndex({ rows: 8000, seed: 1, direction });
        const list = await listHere(new ListWire(index), { flags: { concurrency } });
        const { account } = await list.run();
        expect(account.proof).toBe('ranges');
        lists.push(await list.ids());
      }
    for (const list of lists) expect(list).toEqual(lists[0]);
  });

  it('is compressed by its ending', async () => {
    const index = new SimulatedIndex({ rows: 500, seed: 1 });
    const list = await listHere(new ListWire(index));
    const out = `${list.out}.gz`;
    await list.run({ out });
    expect(
      gunzipSync(await readFile(out))
        .toString()
        .trim()
        .split('\n'),
    ).toEqual(membersOf(index));
  });

  it('counts ids in errors as members', async () => {
    const index = new SimulatedIndex({ rows: 300, seed: 1 });
    const isFailed = (id: string): boolean => 'abc'.includes(id.charAt(6));
    const list = await listHere(new ListWire(index, { failed: isFailed }));
    const { account } = await list.run();
    const inErrors = membersOf(index).filter(isFailed).length;
    expect(inErrors).toBeGreaterThan(5);
    expect(account).toMatchObject({ members: 300, inErrors });
  });

  it('of the reference asks for the total of a collection alone, before the first page and after the last', async () => {
    const index = new SimulatedIndex({ rows: 1500, seed: 1, dropped: 0.1 });
    const wire = new ListWire(index, { total: () => 1500 });
    const list = await listHere(wire, { dialect: 'reference' });
    const { account } = await list.run();
    expect(account).toMatchObject({ proof: 'total', totals: [1500, 1500], calls: 8, members: index.members.size });
  });

  it('goes by ranges where the service gives no total after all', async () => {
    const index = new SimulatedIndex({ rows: 1500, seed: 1 });
    const list = await listHere(new ListWire(index));
    const { account } = await list.run();
    expect(account).toMatchObject({ proof: 'ranges', totals: [], calls: 3 });
  });
});

describe('a list that is not proven', () => {
  const crowded = () => new SimulatedIndex({ rows: 1800, seed: 1, crowded: { space: 1e-4, share: 1 } });

  it('has another name, keeps its pages, and leaves the old list alone', async () => {
    const index = crowded();
    const wire = new ListWire(index);
    const list = await listHere(wire);
    const { error } = await list.run({ proofCalls: 5 });
    expect(error).toMatchObject({ exit: 'notTolerated' });
    expect(error?.todo).toContain('--proof-calls');
    expect(error?.message).toContain(`${list.out}.unproven`);
    expect(await list.ids()).toBeUndefined();
    expect(await list.ids(`${list.out}.unproven`)).toEqual(membersOf(index));
    const sent = wire.sent.length;
    const again = await list.run({ expect: 1800 });
    expect(again.account).toMatchObject({ proof: 'expect', members: 1800 });
    expect(wire.sent.length).toBe(sent + 0 + again.callsOfRun);
    expect(await list.ids()).toEqual(membersOf(index));
    expect(await exists(`${list.out}.unproven`)).toBe(false);
    expect(await exists(`${list.out}.unproven.json`)).toBe(false);
    expect(await exists(`${list.out}.ids`)).toBe(false);
  });

  it('of nobody writes its account alone, and is finished', async () => {
    const wire = new ListWire(new SimulatedIndex({ rows: 0, seed: 1 }));
    const list = await listHere(wire, { dialect: 'triton' });
    const { error } = await list.run();
    expect(error).toMatchObject({ exit: 'notTolerated', message: expect.stringContaining('no members') as string });
    expect(wire.sent.length).toBe(17);
    expect(await exists(list.out)).toBe(false);
    expect(await exists(`${list.out}.unproven`)).toBe(false);
    expect(await listStatus(localDisk, list.out)).toMatchObject({ state: 'unproven', unproven: 'no members' });
    const counted = new ListWire(new SimulatedIndex({ rows: 0, seed: 1 }), { total: () => 0 });
    const short = await listHere(counted);
    expect((await short.run()).error).toMatchObject({ exit: 'notTolerated' });
    expect(counted.sent.length).toBeLessThanOrEqual(3);
  });

  it('has another number of members than expected', async () => {
    const list = await listHere(new ListWire(new SimulatedIndex({ rows: 30, seed: 1 }), { total: () => 30 }));
    const { error } = await list.run({ expect: 1031 });
    const why = '30 members, and --expect is 1,031';
    expect(error).toMatchObject({ exit: 'notTolerated', message: `${why}: the list is in ${list.out}.unproven` });
    expect(await exists(list.out)).toBe(false);
    // Who reads the account sees why it has not its name, though the service's total proves it.
    expect(JSON.parse(await readFile(`${list.out}.unproven.json`, 'utf8'))).toMatchObject({
      proof: 'total',
      unproven: why,
    });
  });
});

describe('a service that lists wrongly', () => {
  const index = new SimulatedIndex({ rows: 3500, seed: 1 });
  const first = membersOf(index).slice(0, 1000);
  const cases = {
    'repeats a page': { spoil: () => first, says: 'ignores after' },
    'ignores after': { spoil: () => first.slice(5, 900), says: 'ignores after' },
    'shuffles a page': {
      spoil: (ids: string[]) => [...ids.slice(500), ...ids.slice(0, 500)],
      says: 'not sorted by id',
    },
    'turns the order': { spoil: (ids: string[]) => ids.toReversed(), says: 'not sorted by id' },
    'lists an id twice': {
      spoil: (ids: string[]) => [...ids.slice(0, 9), ids[8] ?? '', ...ids.slice(9)],
      says: 'twice',
    },
  };

  it.each(Object.entries(cases))('that %s ends with exit 5, and nothing is written', async (_, { spoil, says }) => {
    const wire = new ListWire(index, { spoil: (ids, { call }) => (call > 2 ? spoil(ids) : ids) });
    const list = await listHere(wire, { flags: { retries: '3' } });
    await expect(list.run()).rejects.toMatchObject({
      exit: 'unavailable',
      message: expect.stringContaining(says) as string,
    });
    expect(wire.sent.length).toBeLessThanOrEqual(2 + 3 + 3);
    expect(await exists(list.out)).toBe(false);
    expect(await exists(`${list.out}.unproven`)).toBe(false);
  });

  it('once is asked again', async () => {
    const wire = new ListWire(index, { spoil: (ids, { call }) => (call === 2 ? first : ids) });
    const list = await listHere(wire);
    expect((await list.run()).account).toMatchObject({ members: 3500, proof: 'ranges', calls: 6, pages: 4 });
  });
});

describe('a list that was stopped', () => {
  it('resumes without asking for an answered page, and has the same bytes', async () => {
    const index = new SimulatedIndex({ rows: 6000, seed: 2 });
    for (const call of sampled([1, 2, 3, 4, 5, 6, 7, 8], 4)) {
      let isDown = true;
      const wire = new ListWire(index, {
        total: () => 6000,
        answer: ({ call: sent }) => (isDown && sent > call ? { status: 401, body: '' } : undefined),
      });
      const list = await listHere(wire);
      await writeFile(list.out, 'old');
      if (call < 8) await expect(list.run()).rejects.toMatchObject({ exit: 'notTrusted' });
      else await list.run();
      expect((await readFile(list.out, 'utf8')) === 'old').toBe(call < 8);
      isDown = false;
      if (call === 8) continue;
      const { account } = await list.run();
      // The refusal was asked for twice before it was believed.
      expect(account).toMatchObject({ members: 6000, proof: 'total', calls: 10 });
      expect(await list.ids()).toEqual(membersOf(index));
    }
  });

  it('refuses another filter, flag or service, unless it starts over', async () => {
    const index = new SimulatedIndex({ rows: 1800, seed: 1, crowded: { space: 1e-4, share: 1 } });
    const list = await listHere(new ListWire(index));
    await list.run({ proofCalls: 2 });
    const query = { filter: 'creator', address: '11111111111111111111111111111111', onlyVerified: false } as const;
    const flags = { showFungible: false, showCollectionMetadata: true, showUnverifiedCollections: false };
    await expect(list.run({ query: { ...query, flags } })).rejects.toMatchObject({ exit: 'usage' });
    await expect(list.run({ query: { ...query, flags }, fresh: true, expect: 1800 })).resolves.toMatchObject({
      error: undefined,
    });
  });

  it('takes up no page of a list whose process was stopped while it removed them', async () => {
    for (let stopAt = 1; stopAt <= 6; stopAt += 1) {
      const list = await listHere(new ListWire(new SimulatedIndex({ rows: 30, seed: 1 }), { total: () => 30 }));
      let removals = 0;
      const remove = (path: string): Promise<void> =>
        path.includes('.ids') && ++removals >= stopAt ? Promise.reject(new Error('stopped')) : localDisk.remove(path);
      await list.run({}, { files: { ...localDisk, remove } }).catch(() => undefined);
      const address = '8Fv4CJQJRuDUaawPWRxD6yXAF1Zdf8K22FUiMj8RXwSe';
      const other = await list.run({ query: { ...list.query, address } }).catch((error: unknown) => error);
      // Refused, or begun anew: never with what was answered for another address.
      if (!(other instanceof ExportError)) expect(other).toMatchObject({ callsOfRun: 3, error: undefined });
    }
  });

  it('starts over by itself where no member of the other list is kept', async () => {
    const wire = new ListWire(new SimulatedIndex({ rows: 0, seed: 1 }), { total: () => 0 });
    const list = await listHere(wire);
    await list.run();
    const query = { filter: 'creator', address: '11111111111111111111111111111111', onlyVerified: true } as const;
    const flags = { showFungible: false, showCollectionMetadata: false, showUnverifiedCollections: false };
    const sent = wire.sent.length;
    const { account } = await list.run({ query: { ...query, flags } });
    expect(account).toMatchObject({ filter: { by: 'creator' }, calls: wire.sent.length - sent });
  });

  it('says what is different, in the words of its flags', async () => {
    const index = new SimulatedIndex({ rows: 1800, seed: 1, crowded: { space: 1e-4, share: 1 } });
    const list = await listHere(new ListWire(index));
    await list.run({ proofCalls: 2 });
    const { query } = list;
    const others = [
      [{ records: `${list.out}.records` }, '--records was off when'],
      [
        { query: { ...query, flags: { ...query.flags, showUnverifiedCollections: true } } },
        '--unverified was off when',
      ],
      [{ query: { ...query, filter: 'owner' as const } }, `the list was by collection when`],
    ] as const;
    for (const [request, message] of others)
      await expect(list.run(request)).rejects.toMatchObject({
        exit: 'usage',
        message: expect.stringContaining(message) as string,
      });
  });

  it('is damaged where an entry before the last is not as it was written', async () => {
    const index = new SimulatedIndex({ rows: 3000, seed: 1, crowded: { space: 1e-4, share: 1 } });
    const wire = new ListWire(index);
    const list = await listHere(wire);
    await list.run({ proofCalls: 2 });
    const path = `${list.out}.ids/pages.log`;
    const bytes = await readFile(path);
    await writeFile(path, bytes.subarray(0, bytes.length - 7));
    const sent = wire.sent.length;
    // A cut entry is that of a call in flight.
    await list.run({ proofCalls: 2 });
    expect(wire.sent.length).toBe(sent + 1);
    bytes[200] = (bytes[200] ?? 0) ^ 1;
    await writeFile(path, bytes);
    await expect(list.run()).rejects.toMatchObject({ exit: 'damaged' });
    expect(wire.sent.length).toBe(sent + 1);
  });

  it('warns a day later: its promise counts from the first call', async () => {
    const index = new SimulatedIndex({ rows: 1800, seed: 1, crowded: { space: 1e-4, share: 1 } });
    const list = await listHere(new ListWire(index));
    const { account } = await list.run({ proofCalls: 2 });
    list.clock.skipHours(25);
    const { account: proven, callsOfRun } = await list.run({ expect: 1800 });
    // The number proves it, without a call: the last one was that of the day before.
    expect({ callsOfRun, lastCall: proven.lastCall }).toEqual({ callsOfRun: 0, lastCall: account.lastCall });
    expect(list.events).toContainEqual({
      kind: 'warning',
      message: expect.stringContaining('begun at 2026-03-14 09:00 UTC') as string,
    });
  });
});

describe('what ends a list', () => {
  it('a budget that is spent at any call: the old list stays, and the same command completes it, with no call twice', async () => {
    const index = new SimulatedIndex({ rows: 6000, seed: 2 });
    const calls = 8;
    for (const affordable of sampled([1, 2, 3, 4, 5, 6, 7, 8], 4)) {
      const wire = new ListWire(index, { total: () => 6000 });
      const list = await listHere(wire, { flags: { 'credits-per-run': String(10 * affordable) } });
      await writeFile(list.out, 'old');
      let runs = 1;
      for (; affordable * runs < calls; runs += 1) {
        await expect(list.run()).rejects.toMatchObject({ exit: 'spent' });
        expect(wire.sent.length).toBe(affordable * runs);
        expect(await readFile(list.out, 'utf8')).toBe('old');
      }
      const { error, account } = await list.run();
      expect(error).toBeUndefined();
      expect(account).toMatchObject({ members: 6000, calls, credits: 10 * calls });
      expect(wire.sent.length).toBe(calls);
      expect(await list.ids()).toEqual(membersOf(index));
      expect(await list.ledger.booked('2026-03-14')).toBe(10 * calls);
    }
  });

  it('a budget below the price of a page: no call leaves, and nothing is left behind', async () => {
    const wire = new ListWire(new SimulatedIndex({ rows: 300, seed: 1 }));
    const list = await listHere(wire, { flags: { 'credits-per-run': '9' } });
    await expect(list.run()).rejects.toMatchObject({ exit: 'spent' });
    expect(wire.sent).toEqual([]);
    expect(await exists(list.out)).toBe(false);
  });

  it('a held list: another process works on it', async () => {
    const index = new SimulatedIndex({ rows: 3000, seed: 1 });
    let second: Promise<unknown> | undefined;
    const wire = new ListWire(index, {
      onCall: async ({ call }) => {
        if (call !== 2) return;
        second = list.run();
        await second.catch(() => undefined);
      },
    });
    const list = await listHere(wire);
    expect((await list.run()).error).toBeUndefined();
    await expect(second).rejects.toMatchObject({
      exit: 'locked',
      todo: expect.not.stringContaining('status') as string,
    });
  });

  it('more calls than planned: the brake', async () => {
    const index = new SimulatedIndex({ rows: 20_000, seed: 1 });
    const wire = new ListWire(index, {
      answer: ({ call }) => (call % 8 === 0 ? undefined : { status: 503, body: '' }),
    });
    const list = await listHere(wire, { flags: { overrun: '0' } });
    // 64 empty pages are planned, and a few with members.
    await expect(list.run()).rejects.toMatchObject({ exit: 'overrun' });
    expect(wire.sent.length).toBeLessThan(64 + 21 + 3 + 20);
  });
});

describe('a list of a service that lies', () => {
  const byTokens = { next: 'cursor', ends: 'token' } as const;
  const lastOf = (ids: readonly string[]): string | undefined => (ids.length < 1000 ? undefined : ids.at(-1));

  it('ends where a token leads in a circle, which no resumption pays for again', async () => {
    const index = new SimulatedIndex({ rows: 3500, seed: 1 });
    const second = membersOf(index)[999] ?? '';
    const wire = new ListWire(index, {
      total: () => 3500,
      token: (ids, { cursor }) => (cursor === undefined ? lastOf(ids) : second),
    });
    const list = await listHere(wire, { lists: byTokens });
    for (const calls of [3, 3]) {
      await expect(list.run()).rejects.toMatchObject({
        exit: 'unavailable',
        message: expect.stringContaining(`the token ${second.slice(0, 40)}`) as string,
      });
      expect(wire.sent.length).toBe(calls);
    }
    expect(await exists(list.out)).toBe(false);
  });

  it('is not proven where the last token is lost, and the total says more', async () => {
    const index = new SimulatedIndex({ rows: 3500, seed: 1 });
    const wire = new ListWire(index, { total: () => 3500, token: () => undefined });
    const list = await listHere(wire, { lists: byTokens });
    expect(await list.run()).toMatchObject({
      error: { exit: 'notTolerated' },
      account: { members: 1000, proof: 'none', unproven: 'the service counts 3,500 members, and 1,000 came' },
    });
  });

  it('ends at the brake where pages are cut, and resumes with their size', async () => {
    const index = new SimulatedIndex({ rows: 3500, seed: 1 });
    const wire = new ListWire(index, { total: () => 3500, spoil: (ids) => ids.slice(0, 10) });
    const list = await listHere(wire);
    await expect(list.run()).rejects.toMatchObject({
      exit: 'overrun',
      message: expect.stringContaining('The service gives 10 members a page, not 1,000') as string,
      todo: expect.stringContaining('--limit 10') as string,
    });
    const spent = wire.sent.length;
    // 7 planned calls, 3 that are half of them, and 12 for each.
    expect(spent).toBe(7 + 3 + 84);
    const { dialect } = list;
    const { account, error } = await list.run({ dialect: { ...dialect, list: { ...dialect.list, limit: 10 } } });
    expect(error).toBeUndefined();
    expect(account).toMatchObject({ members: 3500, proof: 'total' });
    expect(wire.sent.at(-2)).toMatchObject({ limit: 10 });
    expect(wire.sent.length).toBeLessThanOrEqual(350 + 5);
  });

  it.each(['empty', 'half'])('gets back a page that was %s once', async (how) => {
    const index = new SimulatedIndex({ rows: 3500, seed: 1 });
    const wire = new ListWire(index, {
      total: () => 3500,
      spoil: (ids, { call }) => (call === 2 ? ids.slice(0, how === 'half' ? 500 : 0) : ids),
    });
    const list = await listHere(wire);
    expect((await list.run()).account).toMatchObject({ members: 3500, proof: 'total' });
    expect(wire.sent.length).toBeLessThanOrEqual(4 + 2 + 4);
  });

  it('by numbers is proven where pages end as they did, and resumes in its second pass', async () => {
    for (const isMoved of [false, true]) {
      const index = new SimulatedIndex({ rows: 3500, seed: 1 });
      const [first = '', ...rest] = membersOf(index);
      const other = '8Fv4CJQJRuDUaawPWRxD6yXAF1Zdf8K22FUiMj8RXwSe';
      let isDown = true;
      const wire = new ListWire(index, {
        total: () => 3500,
        numbered: ({ call }) => (isMoved && call > 1 ? [...rest, other] : [first, ...rest]),
        answer: ({ call }) => (isDown && call > 8 ? { status: 401, body: '' } : undefined),
      });
      const list = await listHere(wire, { lists: { next: 'page' } });
      // The first boundary shows that members moved.
      if (!isMoved) await expect(list.run()).rejects.toMatchObject({ exit: 'notTrusted' });
      isDown = false;
      const { account, error } = await list.run();
      expect(error?.exit).toBe(isMoved ? 'notTolerated' : undefined);
      // Five pages, the second total, where three of them end, and the refusal, twice.
      if (!isMoved) expect(account).toMatchObject({ members: 3500, proof: 'total', askedAgain: 0, calls: 11 });
      if (isMoved) expect(account.unproven).toMatch(/moved/);
      expect(wire.sent.filter(({ limit }) => limit === 1).map(({ page }) => page)).toContain(1000);
    }
  });
});
