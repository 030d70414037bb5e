import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportAssets, writeHolders } from '../../../src/index.ts';
import type { RunningService, ServiceFaults } from '../../../src/practice-service.ts';
import { memberIds, serveMembers, servedCollection, writeMembers } from '../../support/listing/collection-service.ts';
import { queryDuckdb, sqlText } from '../../support/query-duckdb.ts';
import { runHere } from '../../support/run-here.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';

const ids = memberIds(2500);
const owners = memberIds(400).map((id, at) => (at === 7 ? '' : id));
let kept: Awaited<ReturnType<typeof keptFolder>>;
let file: string;

/** Members with owners of which some have many, some burnt. */
beforeAll(async () => {
  kept = await keptFolder();
  file = writeMembers(join(kept.path, 'all.jsonl'), ids);
  const records = readFileSync(file, 'utf8').trim().split('\n');
  const owned = records.map((text, at) => {
    const record = JSON.parse(text) as Record<string, unknown>;
    return JSON.stringify({
      ...record,
      ownership: { owner: owners[Math.floor((at * at) / 7) % owners.length] },
      burnt: at % 50 === 3,
    });
  });
  writeFileSync(file, owned.join('\n'));
});

afterAll(() => kept.remove());

async function served(faults: ServiceFaults['faults'], use: (service: RunningService, cwd: string) => Promise<void>) {
  const service = await serveMembers(file, { faults, dialect: 'helius' });
  try {
    await use(service, await tempFolder());
  } finally {
    await service.close();
  }
}

function holders(cwd: string, args: readonly string[]) {
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(cwd, 'state') };
  return runHere(['holders', ...args], { cwd, environment });
}

const ofCollection = ({ url }: RunningService) => [
  ...['--collection', servedCollection, '--url', url, '--dialect', 'helius', '--out', 'holders.csv'],
];

async function countedByDuckdb(records: string): Promise<string> {
  const rows = await queryDuckdb(
    `SELECT ownership.owner AS owner, count(*) AS assets FROM read_json_auto(${sqlText(records)}, format = 'newline_delimited')
     WHERE ownership.owner <> '' AND NOT burnt GROUP BY 1 ORDER BY 2 DESC, 1`,
  );
  return `owner,assets\n${rows.map((row) => `${row.join(',')}\n`).join('')}`;
}

const linesOf = (text: string) => text.replaceAll('\r\n', '\n');

describe('holders of a collection', () => {
  it('are what DuckDB counts, for the calls of the list', () =>
    served([], async (service, cwd) => {
      const run = await holders(cwd, [...ofCollection(service), '--json']);
      expect(run.exit, run.stderr).toBe(0);
      expect(linesOf(readFileSync(join(cwd, 'holders.csv'), 'utf8'))).toBe(await countedByDuckdb(file));
      const { holders: owned, assets, withoutOwner, burnt, calls } = JSON.parse(run.stdout) as Record<string, number>;
      const { members } = JSON.parse(readFileSync(join(cwd, 'holders.csv.json'), 'utf8')) as Record<string, number>;
      expect({ sum: (assets ?? 0) + (withoutOwner ?? 0) + (burnt ?? 0), members }).toEqual({
        sum: 2450,
        members: 2450,
      });
      expect(owned).toBe(readFileSync(join(cwd, 'holders.csv'), 'utf8').trim().split('\n').length - 1);
      const list = await runHere(['ids', ...ofCollection(service).with(-1, 'ids.txt'), '--json'], {
        cwd,
        environment: { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(cwd, 'state') },
      });
      expect(calls).toBe((JSON.parse(list.stdout) as Record<string, number>)['calls']);
      expect((await readdir(cwd)).sort()).toEqual([
        'holders.csv',
        'holders.csv.json',
        'ids.txt',
        'ids.txt.json',
        'state',
      ]);
    }));

  it('are not written where the list is not proven, and the same command goes on for no page twice', () =>
    served([], async (service, cwd) => {
      const first = await holders(cwd, [...ofCollection(service), '--expect', '2451']);
      expect({ exit: first.exit, stderr: first.stderr }).toMatchObject({
        exit: 3,
        stderr: expect.stringContaining('2,450 members, and --expect is 2,451') as unknown,
      });
      expect(existsSync(join(cwd, 'holders.csv'))).toBe(false);
      const { calls } = service.counts();
      const second = await holders(cwd, [...ofCollection(service), '--expect', '2450']);
      expect(second.exit, second.stderr).toBe(0);
      expect(service.counts().calls).toBe(calls);
    }));

  it('of a wallet are none, and the message says what to type', () =>
    served([], async (service, cwd) => {
      const wallet = ofCollection(service).with(1, ids[0] ?? '');
      expect(await holders(cwd, wallet)).toMatchObject({
        exit: 3,
        stderr: expect.stringContaining('ids --owner') as unknown,
      });
    }));
});

describe('holders of an export', () => {
  it.each(['parquet', 'csv', 'jsonl', 'raw'])('in %s are counted for no call, in each format and by asset', (format) =>
    served([], async (service, cwd) => {
      writeFileSync(join(cwd, 'ids.txt'), ids.join('\n'));
      const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(cwd, 'state') };
      const flags = [
        '--ids',
        'ids.txt',
        '--url',
        service.url,
        '--dialect',
        'helius',
        '--out',
        'out',
        '--format',
        format,
      ];
      const run = await runHere(['run', ...flags], { cwd, environment });
      expect(run.exit, run.stderr).toBe(0);
      const { calls } = service.counts();
      for (const out of ['h.csv', 'h.jsonl', 'h.parquet', 'h.csv.gz']) {
        const made = await holders(cwd, ['--of', 'out', '--out', out]);
        expect(made.exit, made.stderr).toBe(0);
        expect(made.stdout).toMatch(/^\S+: \d+ holders of 2,4\d\d assets; left out: 50 burnt, \d+ without an owner\n/);
      }
      const rows = await queryDuckdb(`SELECT owner, assets FROM read_parquet(${sqlText(join(cwd, 'h.parquet'))})`);
      expect(`owner,assets\n${rows.map((row) => `${row.join(',')}\n`).join('')}`).toBe(await countedByDuckdb(file));
      expect(linesOf(readFileSync(join(cwd, 'h.csv'), 'utf8'))).toBe(await countedByDuckdb(file));
      expect((await holders(cwd, ['--of', 'out', '--out', 'a.csv', '--assets'])).exit).toBe(0);
      const assets = linesOf(readFileSync(join(cwd, 'a.csv'), 'utf8'))
        .trim()
        .split('\n');
      expect(assets[0]).toBe('owner,id,name');
      expect(assets).toHaveLength(1 + rows.reduce((sum, [, n]) => sum + Number(n), 0));
      expect(service.counts().calls).toBe(calls);
    }),
  );
});

it('a program counts the holders of an export, too', () =>
  served([], async (service, cwd) => {
    writeFileSync(join(cwd, 'ids.txt'), ids.join('\n'));
    const job = { service: { dialect: 'helius' } };
    const env = { ASSET_EXPORT_API_KEY: 'key' };
    const { exitCode } = await exportAssets({
      ids: 'ids.txt',
      out: 'out',
      url: service.url,
      job,
      env,
      cwd,
      stateDir: join(cwd, 'state'),
    });
    expect(exitCode).toBe(0);
    const summary = await writeHolders({ of: join(cwd, 'out'), out: join(cwd, 'h.csv') });
    expect(summary).toMatchObject({
      burnt: 50,
      holders: readFileSync(join(cwd, 'h.csv'), 'utf8').trim().split('\n').length - 1,
    });
    expect(existsSync(join(cwd, 'h.csv.holders'))).toBe(false);
  }));

describe('holders refuse before a call', () => {
  it.each([
    [['--collection', 'nonsense', '--out', 'h.csv'], '--collection is not an address'],
    [['--out', 'h.csv'], 'nothing to list'],
    [['--of', 'out', '--creator', servedCollection, '--out', 'h.csv'], '--of and --creator were given together'],
    [['--collection', servedCollection], '--out FILE is missing'],
    [['--collection', servedCollection, '--out', 'h.csv', '--format', 'xml'], '--format must be one of'],
    [['--collection', servedCollection, '--out', 'h.csv', '--dialect', 'bare.yaml'], 'says nothing of lists'],
  ])('%j', (args, message) =>
    served([], async (service, cwd) => {
      writeFileSync(join(cwd, 'bare.yaml'), 'like: helius\nlist: none\n');
      const run = await holders(cwd, [...args, '--url', service.url]);
      expect({ exit: run.exit, stderr: run.stderr }).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining(message) as unknown,
      });
      expect(service.counts().exchanges).toBe(0);
      expect((await readdir(cwd)).filter((name) => name.startsWith('h.'))).toEqual([]);
    }),
  );
});
