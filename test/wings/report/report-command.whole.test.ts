import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExportError } from '../../../src/lib/export-error.ts';
import type { ReportData } from '../../../src/wings/report/report-data.ts';
import { inFolder } from '../../../src/core/run/homes/export-place.ts';
import { standingAt } from '../../../src/core/run/homes/standing.ts';
import { readReport } from '../../../src/wings/report/read-report.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { exportBytes } from '../../support/run-export.ts';
import { runHere } from '../../support/run-here.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';
import { allTables, dataOf, idOf, madeExport, runMade, tenRecords } from './made-export.ts';
import { readPage } from './read-page.ts';

const ids = tenRecords.map((record) => (record as { readonly id: string }).id);
/** Few columns: DuckDB counts each. */
const flags = [
  ...['--tables', allTables, '--format', 'parquet,csv'],
  ...['--columns', 'id,interface,content_metadata_name,royalty_basis_points,mutable'],
];

let kept: Awaited<ReturnType<typeof keptFolder>>;
let folder: string;

beforeAll(async () => {
  kept = await keptFolder();
  folder = await madeExport({ cwd: kept.path, flags, ids: [...ids, idOf(90), 'no id'] });
}, 60_000);

afterAll(() => kept.remove());

function report(...args: readonly string[]) {
  return runHere(['report', ...args], { cwd: kept.path });
}

describe('report', () => {
  it('writes the page, the same one each time, and changes nothing else', async () => {
    const before = exportBytes(folder);
    const { exit, stdout, stderr } = await report('out');
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^out\/report\.html: [\d.]+ kB\n$/);
    const page = readFileSync(join(folder, 'report.html'), 'utf8');
    expect(exportBytes(folder)).toEqual(before);
    expect(readdirSync(folder).filter((name) => name.includes('.new'))).toEqual([]);
    expect((await report('out', '--to', '-')).stdout).toBe(page);
    expect((await report('out', '--to', 'there.html')).exit).toBe(0);
    expect(readFileSync(join(kept.path, 'there.html'), 'utf8')).toBe(page);
    const verified = await runHere(['verify', 'out', '--strict'], { cwd: kept.path });
    expect(verified.exit, verified.stdout).toBe(0);
  });

  it('prints what the page shows as JSON, and writes no page', async () => {
    rmSync(join(folder, 'report.html'), { force: true });
    const { exit, stdout } = await report('out', '--json');
    expect(exit).toBe(0);
    const data = JSON.parse(stdout) as ReportData;
    expect(data).toMatchObject({
      name: 'out',
      state: { kind: 'complete', exit: 0 },
      pending: 0,
      calls: 1,
      credits: 160,
      parts: 1,
      rows: 27,
      counts: { read: 12, exported: 10, missing: 1, invalid: 1, duplicate: 0, failed: 0 },
    });
    expect(existsSync(join(folder, 'report.html'))).toBe(false);
  });

  it('ends with 2, 7 and 12 where it must', async () => {
    const ends = async (...args: readonly string[]): Promise<unknown> => (await report(...args)).exit;
    expect(await ends('nowhere')).toBe(2);
    expect(await ends('out', '--profile', 'some')).toBe(2);
    expect(await ends('out', '--json', '--open')).toBe(2);
    expect(await ends('out', '--open', '--to', '-')).toBe(2);
    expect(await ends('out', '--to', 'no/such/folder/page.html')).toBe(7);
    const cwd = await tempFolder();
    const damaged = await madeExport({ cwd });
    writeFileSync(join(damaged, 'manifest.json'), '{}');
    expect(await ends(damaged)).toBe(12);
  });

  it('shows an export of nothing, of one id, of raw files alone, and without runs.jsonl', async () => {
    const cwd = await tempFolder();
    const shown = async (out: string): Promise<string> => {
      const { exit, stdout, stderr } = await runHere(['report', out, '--to', '-'], { cwd });
      expect(exit, stderr).toBe(0);
      const { errors, text } = readPage(stdout);
      expect(errors).toEqual([]);
      return text;
    };
    await madeExport({ cwd, out: 'none', ids: ['1'.repeat(32)], flags: ['--tables', allTables] });
    expect(await shown('none')).toContain('1 read every id of the inputs');
    await madeExport({ cwd, out: 'one', ids: ids.slice(0, 1) });
    expect(await shown('one')).toContain('1 exported · 100 %');
    await madeExport({ cwd, out: 'raw', flags: ['--format', 'raw'] });
    const raw = await shown('raw');
    expect(raw).toContain('it has no Parquet, JSONL or unescaped CSV tables');
    expect(raw).not.toContain('Every column');
    rmSync(join(cwd, 'one', 'runs.jsonl'));
    expect(await shown('one')).toContain('times, retries and pauses are not known');
  });

  it('is written before the end of a run is told, and lineage has what it counted', async () => {
    const cwd = await tempFolder();
    const made = await madeExport({
      cwd,
      flags: [...flags, '--report', '--lineage-url', `file:${join(cwd, 'events')}`],
    });
    const events = readFileSync(join(cwd, 'events'), 'utf8').trim().split('\n');
    const complete = JSON.parse(events.at(-1) ?? '') as { outputs: { name: string; facets: object }[] };
    const { profile } = await dataOf(made);
    const [assets] = profile?.tables ?? [];
    expect(complete.outputs[0]).toMatchObject({
      facets: {
        dataQualityMetrics: {
          rowCount: 10,
          columnMetrics: Object.fromEntries(
            (assets?.columns ?? []).map(({ name, filled }) => [name, { count: filled, nullCount: 10 - filled }]),
          ),
        },
      },
    });
    const page = readFileSync(join(made, 'report.html'), 'utf8');
    expect((await runHere(['report', 'out', '--to', '-'], { cwd })).stdout).toBe(page);
  });

  it('shows an unfinished export', async () => {
    const cwd = await tempFolder();
    const budget = ['--rows-per-part', '4', '--ids-per-call', '4', '--credits-per-run', '160', '--concurrency', '1'];
    const { exit } = await runMade({ cwd, flags: [...flags, ...budget, '--rename', 'interface=kind'] });
    expect(exit).toBe(8);
    const data = await dataOf(join(cwd, 'out'));
    expect(data).toMatchObject({
      state: { kind: 'stopped', exit: 8, isKilled: false },
      counts: { read: 10, exported: 4 },
      pending: 6,
      parts: 1,
      next: [],
    });
    expect(data.profile?.cards.interfaces?.top).toEqual([{ value: 'V1_NFT', count: 4 }]);
    const { stdout } = await runHere(['report', 'out', '--to', '-'], { cwd });
    expect(readPage(stdout).text).toContain('stopped, exit 8');
    expect(readPage(stdout).text).toContain('6 pending');
  });

  it('names the package where DuckDB is not installed', async () => {
    const standing = await standingAt(inFolder(localDisk, folder), 0);
    const request = {
      files: localDisk,
      folder,
      standing,
      nowMs: 0,
      version: '1',
      localFiles: () => Promise.resolve(folder),
      openProfile: () => Promise.reject(new ExportError('usage', 'DuckDB is not installed')),
    };
    expect(await readReport(request)).toMatchObject({
      profile: null,
      profileMissing: 'DuckDB is not installed',
    });
  });
});

describe('output.report', () => {
  it('writes the page at the end of a run, and the tables stay the same', async () => {
    const cwd = await tempFolder();
    const plain = await madeExport({ cwd, out: 'plain', flags });
    const reported = await madeExport({ cwd, out: 'reported', flags: [...flags, '--report'] });
    expect(exportBytes(reported)).toEqual(exportBytes(plain));
    expect(readPage(readFileSync(join(reported, 'report.html'), 'utf8')).text).toContain('complete');
    const stopped = await runMade({
      cwd,
      out: 'stopped',
      flags: ['--report', '--rows-per-part', '4', '--ids-per-call', '4', '--credits-per-run', '160'],
    });
    expect(stopped.exit).toBe(8);
    const { text } = readPage(readFileSync(join(cwd, 'stopped', 'report.html'), 'utf8'));
    expect(text).toContain('stopped, exit 8');
  });

  it('is a warning where it fails: the exit code stays', async () => {
    const cwd = await tempFolder();
    // Scratch files have no folder to go to.
    const environment = { TMPDIR: join(cwd, 'ids.txt') };
    await runMade({ cwd, out: 'first' });
    const args = ['run', '--ids', 'ids.txt', '--url', 'embedded:assets.jsonl', '--out', 'out', '--report'];
    const { exit, stderr } = await runHere(args, { cwd, environment });
    expect(exit, stderr).toBe(0);
    expect(stderr).toContain('no report: ');
    expect(existsSync(join(cwd, 'out/manifest.json'))).toBe(true);
  });
});
