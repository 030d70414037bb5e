import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/lib/hash/sha256.ts';
import { noCounts, noNotes } from '../../../src/places/export/export-facts.ts';
import { type NewManifest, readManifest, writeManifest } from '../../../src/places/export/manifest.ts';
import { MemoryDisk } from '../../model/support/memory-disk.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { bytesAt, diskWith, flipped } from '../files/memory-files.ts';

const folder = '/out';
const path = '/out/manifest.json';

const file = { path: 'csv/assets/part-00000.csv', format: 'csv', table: 'assets', part: 0, rows: 1, bytes: 10 };
const manifest: NewManifest = {
  program: { name: 'asset-export', version: '0.1.0' },
  job: { 'ids.column': null, 'output.rowsPerPart': 100 },
  inputs: [{ name: 'ids – été.txt', bytes: 45, sha256: 'ab' }],
  counts: { ...noCounts, read: 1, exported: 1 },
  calls: 1,
  credits: 160,
  parts: 1,
  tables: { assets: { rows: 1, columns: [{ name: 'id', type: 'string', nullable: false }] } },
  files: [{ ...file, sha256: 'cd', first: 1, last: 1 }],
  drift: [{ path: 'a.b', kind: 'unknownField', count: 1, sampleId: 'x' }],
  notes: noNotes,
  commits: [{ part: 0, counts: { ...noCounts, read: 1, exported: 1 }, drift: [], notes: noNotes }],
};

async function written(value: typeof manifest): Promise<Buffer> {
  const disk = new MemoryDisk();
  await disk.files.makeFolder(folder);
  await writeManifest(disk.files, folder, value);
  disk.restartAfterPowerLoss(() => false);
  return bytesAt(disk.files, path);
}

describe('a manifest', () => {
  it('is read as it was written, and survives a loss of power as soon as it is written', async () => {
    const { files } = await diskWith(path, await written(manifest));
    expect(await readManifest(files, folder)).toEqual({ version: 1, encoding: 2, ...manifest });
    expect(await readManifest(new MemoryDisk().files, folder)).toBeUndefined();
  });

  it('is the same bytes in whatever order its facts were put together', async () => {
    const turned = Object.fromEntries(Object.entries(manifest).reverse()) as typeof manifest;
    const files = manifest.files.map((each) => Object.fromEntries(Object.entries(each).reverse()) as typeof each);
    expect(await written({ ...turned, files })).toEqual(await written(manifest));
  });

  it('with any bit turned, any byte cut off, or one more, is damaged', async () => {
    const bytes = await written(manifest);
    const spoiled = [
      ...Array.from(bytes, (_, at) => flipped(bytes, at)),
      ...Array.from(bytes, (_, at) => bytes.subarray(0, at)),
      Buffer.concat([bytes, Buffer.from('\n')]),
      Buffer.concat([Buffer.from(' '), bytes]),
    ];
    for (const content of spoiled) {
      const { files } = await diskWith(path, content);
      await expect(readManifest(files, folder)).rejects.toMatchObject({
        exit: 'damaged',
        message: expect.stringContaining(path) as string,
      });
    }
  });

  it.each([
    ['tables.assets.columns.0.name', '"name": "id"', '"name": "x` STRING); DROP TABLE victim; --"'],
    ['tables.assets.columns.0.name', '"name": "id"', String.raw`"name": "x\\"`],
    ['tables.assets.columns.0.type', '"type": "string"', '"type": "struct"'],
    ['tables.assets.columns.0.from', '"nullable": false', String.raw`"nullable": false, "from": "a b"`],
    ['tables.a b', '"assets": {', '"a b": {'],
    ['files.0.table', '"table": "assets"', '"table": "a;b"'],
    ['files.0.path', 'csv/assets/part-00000.csv', String.raw`csv/a\nb`],
    ['files.0.bytes', '"bytes": 10', '"bytes": -1'],
    ['counts.read', '"read": 1', '"read": 1e300'],
    ['calls', '"calls": 1', '"calls": 0.5'],
    ['credits', '"credits": 160', '"credits": 1e300'],
    ['startedAtMs', '"parts": 1', '"parts": 1, "startedAtMs": 1e300'],
    ['startedAtMs', '"parts": 1', '"parts": 1, "startedAtMs": 8640000000000001'],
    ['program.version', '"version": "0.1.0"', String.raw`"version": "0\u001b[2J"`],
    ['rebuilt.seal', '"parts": 1', '"parts": 1, "rebuilt": {"seal": 1}'],
    ['base.name', '"parts": 1', String.raw`"parts": 1, "base": {"name": "a\nb"}`],
    ['diff.from.name', '"parts": 1', String.raw`"parts": 1, "diff": {"from": {"name": "a\nb", "seal": ""}}`],
  ])('with a right seal and an odd %s is damaged, and the field is named', async (field, from, to) => {
    const { files } = await diskWith(path, resealed(await written(manifest), from, to));
    await expect(readManifest(files, folder)).rejects.toMatchObject({
      exit: 'damaged',
      message: expect.stringContaining(`(${field}: `) as string,
    });
  });

  it('of a newer version is refused with what to do', async () => {
    const { files } = await diskWith(path, Buffer.from('{"version": 2, "anything": "else"}\n'));
    await expect(readManifest(files, folder)).rejects.toMatchObject({
      exit: 'damaged',
      message: expect.stringContaining('newer version (format 2)') as string,
      todo: 'Update asset-export.',
    });
  });

  it.each([1, 3])('of encoding %i is refused in one sentence with what to do', async (encoding) => {
    const { files } = await diskWith(
      path,
      resealed(await written(manifest), '"encoding": 2', `"encoding": ${encoding}`),
    );
    await expect(readManifest(files, folder)).rejects.toMatchObject({
      exit: 'damaged',
      message: `${path} is of encoding ${encoding}, and this version reads 2`,
      todo: 'Use the version of asset-export that wrote it, or export again with --fresh.',
    });
  });
});

it('a manifest of an export with lists of structs is refused', async () => {
  const content = await written({ ...manifest, job: { 'output.nested': true } });
  const { files } = await diskWith(path, content);
  await expect(readManifest(files, folder)).rejects.toMatchObject({ exit: 'usage', todo: 'Export its ids again.' });
});

/** The manifest with other text, sealed as the program seals it. */
function resealed(bytes: Buffer, from: string, to: string): Buffer {
  const text = bytes.toString().replace(from, () => to);
  expect(text).not.toBe(bytes.toString());
  const open = text.replace(/"seal": "[0-9a-f]{64}"\n\}\n$/, '"seal": ""\n}\n');
  return Buffer.from(open.replace(/"seal": ""\n\}\n$/, `"seal": "${sha256(open)}"\n}\n`));
}

/** A folder with the export `old`, whose manifest names a file beside it. */
async function evilFolder(): Promise<string> {
  const top = await tempFolder();
  mkdirSync(join(top, 'old'));
  writeFileSync(join(top, 'assets.csv'), 'mine');
  writeFileSync(join(top, 'ids.txt'), '');
  writeFileSync(join(top, 'records.jsonl'), '');
  writeFileSync(
    join(top, 'old/manifest.json'),
    resealed(await written(manifest), JSON.stringify(file.path), '"../assets.csv"'),
  );
  return top;
}

describe('a manifest that leads out of its export', () => {
  it.each(['../assets.csv', '/etc/passwd', 'csv/../../x', 'csv//x', './x', String.raw`..\x`, 'C:/x', ''])(
    'by the file %j is damaged',
    async (name) => {
      const bytes = resealed(await written(manifest), JSON.stringify(file.path), JSON.stringify(name));
      const { files } = await diskWith(path, bytes);
      await expect(readManifest(files, folder)).rejects.toMatchObject({
        exit: 'damaged',
        message: expect.stringContaining('not within the export') as string,
      });
    },
  );

  it.each(['..', '../x', '/x', '.'])('by the base %j is damaged', async (name) => {
    const asked = { new: 0, failed: 0, missing: 0, stale: 0 };
    const base = { name: 'night', seal: 'ef', asked, overdue: 0, lost: 0, rows: 0, unlisted: 0, classes: [] };
    const bytes = resealed(await written({ ...manifest, base }), '"night"', JSON.stringify(name));
    const { files } = await diskWith(path, bytes);
    await expect(readManifest(files, folder)).rejects.toMatchObject({
      exit: 'damaged',
      message: expect.stringContaining('is not a name') as string,
    });
  });

  it.each([
    ['status', 'old'],
    ['verify', 'old'],
    ['verify', 'old', '--repair'],
    ['report', 'old'],
    ['load', 'old', '--to', 'duckdb:x.duckdb'],
    ['rebuild', 'old', '--out', 'new'],
    ['diff', 'old', 'old'],
    ['plan', '--ids', 'ids.txt', '--url', 'http://127.0.0.1:1', '--out', 'new', '--base', 'old'],
    ['run', '--ids', 'ids.txt', '--url', 'embedded:records.jsonl', '--out', 'new', '--base', 'old'],
    ['serve', '--assets', 'old', '--port', '0'],
  ])('ends %s %s %s … with exit 12, and its file is left alone', async (...argv) => {
    const top = await evilFolder();
    const { exit, stderr } = await runHere(argv, { cwd: top });
    expect({ exit, stderr }).toMatchObject({ exit: 12, stderr: expect.stringContaining('not within') as string });
    expect(readFileSync(join(top, 'assets.csv'), 'utf8')).toBe('mine');
  });

  it('is deleted by --fresh, and its file is left alone', async () => {
    const top = await evilFolder();
    const fresh = ['run', '--ids', 'ids.txt', '--url', 'embedded:records.jsonl', '--out', 'old', '--fresh'];
    expect((await runHere(fresh, { cwd: top })).stderr).toContain('the earlier export in old is deleted');
    expect(readFileSync(join(top, 'assets.csv'), 'utf8')).toBe('mine');
  });
});
