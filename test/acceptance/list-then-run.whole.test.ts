import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningService, ServiceFaults } from '../../src/practice-service.ts';
import type { ListAccount } from '../../src/wings/listing/index.ts';
import { memberIds, serveMembers, servedCollection, writeMembers } from '../support/listing/collection-service.ts';
import { count } from '../../src/lib/format-text.ts';
import { runsAll } from '../support/lane.ts';
import { runHere } from '../support/run-here.ts';
import { runProgram } from '../support/run-program.ts';
import { keptFolder, tempFolder } from '../support/temp-folder.ts';
import { sampled } from '../model/support/sample.ts';

const ids = memberIds(25_000);
/** What is listed many times. */
const some = runsAll ? ids : memberIds(3000);
let kept: Awaited<ReturnType<typeof keptFolder>>;
let file: string;
let fileOfSome: string;

beforeAll(async () => {
  kept = await keptFolder();
  file = writeMembers(join(kept.path, 'all.jsonl'), ids);
  fileOfSome = writeMembers(join(kept.path, 'some.jsonl'), some);
});

afterAll(() => kept.remove());

type Faults = ServiceFaults['faults'];

function environmentIn(folder: string): Record<string, string> {
  return { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
}

function listing(service: RunningService, more: readonly string[] = []): string[] {
  return [
    'ids',
    '--collection',
    servedCollection,
    '--url',
    service.url,
    '--dialect',
    'helius',
    '--out',
    'mints.txt',
    ...more,
  ];
}

async function served(
  faults: Faults,
  use: (service: RunningService) => Promise<void>,
  { dialect = 'helius', assets = file } = {},
): Promise<void> {
  const service = await serveMembers(assets, { faults, dialect });
  try {
    await use(service);
  } finally {
    await service.close();
  }
}

function idsIn(path: string): string[] {
  return readFileSync(path, 'utf8').trim().split('\n');
}

/** Members that the service can show. */
function lostOf(listed: readonly string[], wanted: readonly string[]): number {
  const found = new Set(listed);
  return wanted.filter((id) => !found.has(id)).length;
}

describe('a list of a service', () => {
  it('of 25,000 members takes 26 pages and the second total, and costs what the service charges', () =>
    served([], async (service) => {
      const folder = await tempFolder();
      const run = await runHere(listing(service, ['--concurrency', '1']), {
        cwd: folder,
        environment: environmentIn(folder),
      });
      expect(run.exit, run.stderr).toBe(0);
      expect(run.stdout).toBe(
        [
          '  filter        collection J1S9H3Qj…, verified members; burnt assets are never listed',
          '  members       25,000',
          '  proof         total: the service counts 25,000 too (showGrandTotal)',
          '  calls         27     26 pages, 1 for the second total',
          '  credits       270    10 a page (Helius credits, read 2026-01-16)',
          '',
        ].join('\n'),
      );
      expect(service.counts()).toMatchObject({ exchanges: 27, credits: 270 });
      expect(idsIn(join(folder, 'mints.txt'))).toEqual(ids);
      const credits = await runHere(['credits', '--json'], {
        cwd: folder,
        environment: environmentIn(folder),
      });
      expect(credits.stdout).toContain('270');
    }));

  const cases: readonly { readonly name: string; readonly faults: Faults; readonly dialect?: string }[] = [
    { name: '99 % dropped', faults: [{ fault: 'dropped', share: 0.99 }] },
    { name: 'all of a half dropped', faults: [{ fault: 'dropped', window: [0.2, 0.7] }] },
    { name: '99.9 % of the first 90 % dropped', faults: [{ fault: 'dropped', share: 0.999, window: [0, 0.9] }] },
    {
      name: '99 % dropped, falling ids',
      faults: [
        { fault: 'dropped', share: 0.99 },
        { fault: 'direction', form: 'desc' },
      ],
    },
    {
      name: 'a total of shown rows',
      faults: [
        { fault: 'dropped', window: [0.2, 0.7], share: 0.999 },
        { fault: 'total', of: 'shown', off: 400 },
      ],
    },
    { name: 'members come', faults: [{ fault: 'members', come: 6, most: 60, calls: 1 }] },
    { name: 'members leave', faults: [{ fault: 'members', leave: 6, most: 60, calls: 1 }] },
    { name: 'a total of rows, 99 % dropped', faults: [{ fault: 'dropped', share: 0.99 }], dialect: 'reference' },
  ];

  it.each(sampled(cases, 5))('loses nothing that is proven: $name', ({ faults, dialect }) =>
    served(
      faults,
      async (service) => {
        for (const concurrency of ['1', '8']) {
          const folder = await tempFolder();
          const environment =
            dialect === 'reference' ? { ASSET_EXPORT_STATE: join(folder, 'state') } : environmentIn(folder);
          const more = ['--concurrency', concurrency, '--json', '--dialect', dialect ?? 'helius'];
          const run = await runHere(listing(service, more), { cwd: folder, environment });
          const account = JSON.parse(run.stdout) as ListAccount & { readonly list: string };
          expect([0, 3], run.stderr).toContain(run.exit);
          expect(account.emptyPages).toBeLessThanOrEqual(
            Math.max(64, 4 * account.pages, 64 + 4 * Math.ceil(some.length / 1000)),
          );
          expect(account.calls).toBeLessThanOrEqual(account.pages + account.emptyPages + account.askedAgain + 4);
          if (run.exit === 3) continue;
          const listed = idsIn(account.list);
          expect(listed.length).toBe(account.members);
          const isSome = new Set(some);
          expect(listed.filter((id) => !isSome.has(id))).toEqual([]);
          if (faults.some(({ fault }) => fault === 'members'))
            expect(some.length - listed.length).toBeLessThanOrEqual(60);
          else expect(lostOf(listed, await shownBy(service, environment, dialect))).toBe(0);
        }
      },
      { dialect, assets: fileOfSome },
    ),
  );
});

/** What a service shows is what it lists page by page, with a page for each part of the key space. */
async function shownBy(
  service: RunningService,
  environment: Record<string, string>,
  dialect = 'helius',
): Promise<string[]> {
  const path = dialect === 'helius' ? `/?api-key=${environment['ASSET_EXPORT_API_KEY'] ?? ''}` : '/';
  const shown: string[] = [];
  // From each 500th id: no page has more than 1,000 rows up to the next.
  for (let from = 0; from < some.length; from += 500) {
    const place = {
      ...(from === 0 ? {} : { after: some[from - 1] }),
      ...(some[from + 500] === undefined ? {} : { before: some[from + 500] }),
    };
    const params = { groupKey: 'collection', groupValue: servedCollection, limit: 1000, ...place };
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'getAssetsByGroup',
      params: from === 0 && place.before === undefined ? { ...params, page: 1 } : params,
    });
    const answer = await fetch(`${service.url}${path}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    const { result } = (await answer.json()) as { result: { items: { id: string }[] } };
    shown.push(...result.items.map(({ id }) => id));
  }
  return shown;
}

const ofSome = () => ({ assets: fileOfSome });

/** The records of a list are served like those of any export: they have the same members, without those in errors. */
async function servedAgain(
  listed: string,
  options: { readonly cwd: string; readonly environment: Record<string, string> },
  members: number,
): Promise<void> {
  const service = await serveMembers(listed);
  try {
    expect(service.assets).toBe(members);
    const again = await runHere([...listing(service), '--out', 'again.txt', '--expect', String(members)], options);
    expect(again.exit, again.stderr).toBe(0);
  } finally {
    await service.close();
  }
}

describe('a list of records, then tables', () => {
  it('requests nothing twice: the tables are those of calls for ids', () => {
    // 1 % of the members come with an error in place of a record.
    const inErrors = some.length / 100;
    const faults: Faults = [{ fault: 'dropped', ids: some.slice(100, 100 + inErrors), asErrors: true }];
    return served(
      faults,
      async (service) => {
        const folder = await tempFolder();
        const options = { cwd: folder, environment: environmentIn(folder) };
        const list = await runHere(listing(service, ['--records', 'listed']), options);
        expect(list.exit, list.stderr).toBe(0);
        expect(list.stdout.replaceAll(/ +/g, ' ')).toContain(
          `${count(some.length)} ${inErrors} of them with an error in place of a record`,
        );
        const before = service.counts();
        const run = [
          'run',
          '--ids',
          'mints.txt',
          '--url',
          service.url,
          '--dialect',
          'helius',
          '--format',
          'csv',
          '--max-failed',
          '100%',
        ];
        const based = await runHere([...run, '--base', 'listed', '--max-age', 'never', '--out', 'based'], options);
        expect(based.exit, based.stderr).toBe(0);
        expect(service.counts().calls - before.calls).toBe(Math.ceil(inErrors / 1000));
        const whole = await runHere([...run, '--out', 'whole'], options);
        expect(whole.exit, whole.stderr).toBe(0);
        for (const command of [
          ['verify', 'listed'],
          ['rebuild', 'listed', '--out', 'again', '--format', 'parquet'],
          ['diff', 'based', 'whole', '--exit-code'],
        ]) {
          const { exit, stderr } = await runHere(command, options);
          expect(exit, `${command.join(' ')}: ${stderr}`).toBe(0);
        }
        await servedAgain(join(folder, 'listed'), options, some.length - inErrors);
      },
      ofSome(),
    );
  });
});

describe('a disk that takes no more', () => {
  it('ends a list with 7 and leaves the old one; with room the same command completes it', () =>
    served(
      [],
      async (service) => {
        const folder = await tempFolder();
        const options = { cwd: folder, environment: environmentIn(folder) };
        const old = await runHere(listing(service), options);
        expect(old.exit, old.stderr).toBe(0);
        const whole = service.counts().exchanges;
        const before = readFileSync(join(folder, 'mints.txt'));
        // 200 blocks of 512 bytes hold two pages of the journal.
        const full = await runProgram(listing(service), { ...options, largestFile: 200 });
        expect(full.exit, full.stderr).toBe(7);
        expect(full.stderr).not.toContain('    at ');
        expect(readFileSync(join(folder, 'mints.txt'))).toEqual(before);
        const sent = service.counts().exchanges;
        const last = await runHere(listing(service), options);
        expect(last.exit, last.stderr).toBe(0);
        expect(service.counts().exchanges - sent).toBeLessThanOrEqual(whole);
        expect(idsIn(join(folder, 'mints.txt'))).toEqual(some);
      },
      ofSome(),
    ));
});
