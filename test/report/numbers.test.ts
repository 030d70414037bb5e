import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportPage } from '../../src/report/page/page.ts';
import type { ReportData } from '../../src/report/report-data.ts';
import type { Manifest } from '../../src/store/manifest.ts';
import { queryDuckdb, sqlName, sqlText } from '../support/query-duckdb.ts';
import { runProgram } from '../support/run-program.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { dataOf } from './made-export.ts';
import { readPage } from './read-page.ts';

let kept: Awaited<ReturnType<typeof keptFolder>>;
let folder: string;
let data: ReportData;
let manifest: Manifest;
let text: string;

beforeAll(async () => {
  kept = await keptFolder();
  folder = join(kept.path, 'demo');
  expect((await runProgram(['demo', 'demo'], { cwd: kept.path })).exit).toBe(0);
  data = await dataOf(folder);
  manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  text = readPage(reportPage(data)).text;
}, 60_000);

afterAll(() => kept.remove());

describe('the numbers of a report', () => {
  it('of the account are those of the manifest', () => {
    const { counts, calls, credits, parts, drift } = manifest;
    expect(data).toMatchObject({
      counts,
      calls,
      credits,
      parts,
      pending: 0,
      notes: manifest.notes,
      inputs: manifest.inputs,
    });
    expect(data.rows).toBe(Object.values(manifest.tables).reduce((sum, { rows }) => sum + rows, 0));
    expect(data.files.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(
      manifest.files.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    const byKey = <T extends { kind: string; path: string }>(rows: readonly T[]): T[] =>
      [...rows].sort((a, b) => (`${a.kind} ${a.path}` < `${b.kind} ${b.path}` ? -1 : 1));
    expect(byKey(data.drift.rows)).toEqual(byKey(drift));
  });

  it('of every column are those of a query of its own, over another format', async () => {
    for (const table of data.profile?.tables ?? []) {
      const source = `read_csv(${sqlText(`${folder}/csv/${table.name}/*.csv`)}, header = true, all_varchar = true, allow_quoted_nulls = false, nullstr = '')`;
      const sums = table.columns.flatMap(({ name }) => [`count(${sqlName(name)})`, `count(DISTINCT ${sqlName(name)})`]);
      const [row = []] = await queryDuckdb(`SELECT count(*), ${sums.join(', ')} FROM ${source}`);
      const found = row.map(Number);
      expect([table.rows, ...table.columns.flatMap(({ filled, distinct }) => [filled, distinct])]).toEqual(found);
      for (const { name, top, bins, filled } of table.columns) {
        if (bins.length > 0)
          expect(
            bins.reduce((sum, { count }) => sum + count, 0),
            name,
          ).toBe(filled);
        for (const { value, count } of top.slice(0, 2).filter((each) => each.value.length < 160)) {
          const [[times] = []] = await queryDuckdb(
            `SELECT count(*) FROM ${source} WHERE ${sqlName(name)} = ${sqlText(value)}`,
          );
          expect([table.name, name, value, count]).toEqual([table.name, name, value, Number(times)]);
        }
      }
    }
  });

  it('of the reasons add up to the fates', () => {
    const ids = (fate: string): number =>
      data.unexported.groups.filter((group) => group.fate === fate).reduce((sum, group) => sum + group.ids, 0);
    const { missing, invalid, duplicate, failed } = manifest.counts;
    const more = data.unexported.more.ids;
    expect([ids('missing'), ids('invalid') + more, ids('duplicate'), ids('failed')]).toEqual([
      ...[missing, invalid, duplicate, failed],
    ]);
  });
});

/** What people asked of an export, and the words of the page that answer. */
const questions: readonly (readonly [string, RegExp])[] = [
  ['Is it complete?', /^demo complete /],
  ['How many of my ids became rows?', /3,000 exported · 95\.8 %/],
  ['What happened to the others?', /60 missing .* 35 invalid .* 35 duplicate .* 0 failed/],
  ['What did it cost, and an asset?', /640 credits 0\.21 an asset/],
  ['How fast was it, and was it throttled?', /in 1 run [\d,]+ ids\/s .* paused 0 times/],
  ['Which collections are the largest?', /Collections .* Windy Junipers 8Fv4…XwSe 41 1\.4 %/],
  ['Which interfaces are there?', /Interfaces .* V1_NFT 954 31\.8 %/],
  ['Which columns are always empty?', /columns are always null/],
  ['Which line of which file is wrong?', /invalid .*is not a base58 character.*data\/ids\.txt ?:167/],
  ['Did the service send fields nobody knows?', /content\.files\[\]\.cdn_uri unknown field 980/],
  ['How do I get the missing ids again, and for how much?', /60 ids in 1 call, 160 credits/],
  ['How do I load it?', /asset-export load demo --to duckdb:demo\.duckdb/],
];

it.each(questions)('the page answers: %s', (_, answer) => {
  expect(text).toMatch(answer);
});
