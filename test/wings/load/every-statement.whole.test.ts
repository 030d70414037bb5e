import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExportError } from '../../../src/lib/export-error.ts';
import { sha256 } from '../../../src/lib/hash/sha256.ts';
import { loadExport, type LoadRequest } from '../../../src/wings/load/load-export.ts';
import type { LoadSummary } from '../../../src/wings/load/load-rows.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { sampled } from '../../model/support/sample.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { assetIds, exportNight, firstNight, secondNight } from '../warehouse/diff/two-nights.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { inDuckdb } from './both-databases.ts';
import { copyUnlocked, watched } from './struck-statements.ts';

const server = await postgresOfTests('loads into PostgreSQL do not fail at each statement');

let folder: Awaited<ReturnType<typeof keptFolder>>;
const place = (name: string): string => join(folder.path, name);

/** The night `new` has its changes since `base`; `fewer` lacks a column. */
beforeAll(async () => {
  folder = await keptFolder();
  const tables = 'assets,creators';
  const flags = { base: 'none', 'max-age': '0d', 'missing-after': '0d', format: 'csv', tables };
  const ids = assetIds.slice(130, 190);
  await exportNight({ record: firstNight, ids, flags, out: place('base') });
  const fewer = { ...flags, exclude: 'content_json_uri' };
  await exportNight({ record: firstNight, ids, flags: fewer, out: place('fewer') });
  const changed = { ...flags, base: place('base'), tables: `${tables},changes` };
  await exportNight({ record: secondNight, ids: ids.slice(3), flags: changed, out: place('new') });
}, 120_000);

afterAll(() => folder.remove());

interface Case {
  readonly kind: LoadRequest['kind'];
  readonly mode: LoadRequest['mode'];
  readonly way: LoadSummary['way'];
  /** The night that the tables hold before. */
  readonly before?: string;
}

const cases: readonly Case[] = [
  { kind: 'duckdb', mode: 'replace', way: 'into empty tables' },
  { kind: 'duckdb', mode: 'replace', way: 'new file', before: 'base' },
  { kind: 'duckdb', mode: 'replace', way: 'by comparing', before: 'fewer' },
  { kind: 'duckdb', mode: 'scd2', way: 'by comparing', before: 'fewer' },
  { kind: 'duckdb', mode: 'scd2', way: 'by changes', before: 'base' },
  { kind: 'postgres', mode: 'replace', way: 'into empty tables' },
  { kind: 'postgres', mode: 'replace', way: 'by comparing', before: 'fewer' },
  { kind: 'postgres', mode: 'replace', way: 'by changes', before: 'base' },
  { kind: 'postgres', mode: 'scd2', way: 'by comparing', before: 'fewer' },
  { kind: 'postgres', mode: 'scd2', way: 'by changes', before: 'base' },
];

/** A database: a file in a folder of its own, or one of the server. */
interface Place {
  readonly address: string;
  readonly rows: (sql: string) => Promise<string[]>;
}

function placeOf(kind: LoadRequest['kind'], name: string): Place {
  if (kind === 'duckdb') {
    const file = join(place(name), 'a.duckdb');
    return { address: `duckdb:${file}`, rows: (sql) => inDuckdb(file, sql) };
  }
  const rows = async (sql: string) => (await server.query(sql, name)).split('\n').filter((line) => line !== '');
  return { address: server.address.replace('/postgres?', `/${name}?`), rows };
}

/** Makes a database, or a copy of another one. */
async function made(kind: LoadRequest['kind'], name: string, from?: string): Promise<Place> {
  if (kind === 'postgres') {
    await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await server.query(`CREATE DATABASE ${name} TEMPLATE ${from ?? 'template0'}`);
    return placeOf(kind, name);
  }
  rmSync(place(name), { recursive: true, force: true });
  if (from === undefined) mkdirSync(place(name));
  else copyUnlocked(place(from), place(name));
  return placeOf(kind, name);
}

async function load({ kind, mode }: Case, { address }: Place, name: string) {
  const notes: string[] = [];
  let way: LoadSummary['way'] = null;
  const request = { files: localDisk, folder: place(name), kind, mode, maxDeletes: '50%' } as const;
  await loadExport({ ...request, note: (text) => notes.push(text) }, parseTarget(address, '/'), (summary) => {
    way = summary.way;
  });
  return { way, notes };
}

/** All rows, with the record of loads. @param isOld a column that a failed load added is left out */
async function dump({ rows: query }: Place, isOld = false): Promise<string[]> {
  const names = `SELECT table_name FROM information_schema.tables WHERE table_schema IN ('main', 'public')`;
  const all: string[] = [];
  for (const table of await query(names)) {
    const columns = table === '_asset_export_loads' ? '"table", seal, mode, export, "rows"' : '*';
    for (const row of await query(`SELECT CAST(to_json(t) AS text) FROM (SELECT ${columns} FROM ${table}) AS t`)) {
      const { content_json_uri: uri, ...cells } = JSON.parse(row) as Record<string, unknown>;
      const text = JSON.stringify({ ...cells, ...(isOld ? {} : { uri }) });
      all.push(`${table} ${text.slice(0, 120)} ${sha256(text)}`);
    }
  }
  return all.sort();
}

describe('a load that fails', () => {
  it.each(sampled(cases, 10))(
    // Promise, Nothing misread: A load stopped anywhere leaves old or new rows; the same command finishes (sampled)
    'at any statement, or is killed there, ends whole when it is run again: $kind, $mode $way',
    async (test) => {
      const { kind, way, before } = test;
      if (kind === 'postgres' && server.isMissing) return;
      const start = await made(kind, 'start');
      if (before !== undefined) await load(test, start, before);
      if (kind === 'duckdb' && way === 'by comparing') await start.rows('CREATE TABLE mine (id text)');
      const isOld = before === 'fewer';
      // A file that is opened is there afterwards, and the first load into one that is not there goes its own way.
      const old = before === undefined ? [] : await dump(start, isOld);
      const whole = await made(kind, 'whole', 'start');
      const { count, result } = await watched(
        kind,
        () => undefined,
        () => load(test, whole, 'new'),
      );
      expect(result).toMatchObject({ way });
      const wanted = await dump(whole);
      const wantedOld = await dump(whole, isOld);
      const numbers = Array.from({ length: count }, (_, n) => n + 1);
      const tries = (['refused', 'killed'] as const).flatMap((how) => numbers.map((at) => [at, how] as const));
      for (const [at, how] of sampled(sampled(tries))) {
        const name = `at_${at}_${how}`;
        let tried = await made(kind, name, 'start');
        const isKilled = how === 'killed';
        const { result: ended } = await watched(
          kind,
          (n) => {
            if (!isKilled) return n === at ? 'refused' : undefined;
            if (kind === 'postgres') return n >= at ? 'cut off' : undefined;
            if (n === at) copyUnlocked(place(name), place(`${name}_now`));
            return undefined;
          },
          () => load(test, tried, 'new'),
        );
        if (isKilled && kind === 'duckdb') tried = placeOf(kind, `${name}_now`);
        const here = await dump(tried, isOld);
        const isNew = here.join('\n') === wantedOld.join('\n');
        if (!isNew) expect(here, name).toEqual(old);
        if (!isKilled) {
          if (!(ended instanceof ExportError)) {
            // What comes after COMMIT fails no load.
            const notes = [expect.stringMatching(/were loaded, but ANALYZE failed/)] as string[];
            expect([isNew, ended], name).toEqual([true, { way, notes: expect.arrayContaining(notes) as string[] }]);
          } else {
            const says = `${ended.message} ${ended.todo ?? ''}`;
            expect(/Rolled back|Nothing was (loaded|kept)/.test(says), `${name}: ${says}`).toBe(!isNew);
          }
        }
        expect(await load(test, tried, 'new').then(() => dump(tried)), name).toEqual(wanted);
        if (kind === 'postgres') await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
      }
    },
    600_000,
  );
});
