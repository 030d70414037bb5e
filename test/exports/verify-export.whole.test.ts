import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ExportError, messageOf } from '../../src/lib/export-error.ts';
import { type VerifyProgress, verifyExport } from '../../src/exports/verify-export.ts';
import { SeededRandom } from '../../packages/practice-service/src/generated/seeded-random.ts';
import type { Disk } from '../../src/places/files/disk.ts';
import { readManifest, writeManifest } from '../../src/places/export/manifest.ts';
import { MemoryDisk } from '../model/support/memory-disk.ts';
import { bytesAt, flipped, putFile } from '../places/files/memory-files.ts';
import { startGeneratedService } from '../support/service/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { runExport } from '../support/run-export.ts';
import { keptFolder } from '../support/temp-folder.ts';

/** A finished export in every format, by path. */
const whole = new Map<string, Buffer>();
const out = '/out';

beforeAll(async () => {
  const folder = await keptFolder();
  const ids = join(folder.path, 'ids.txt');
  await writeIdFile(ids, { entries: 120, invalidPercent: 3, duplicatePercent: 3 });
  const service = await startGeneratedService({ missingPercent: 5 });
  const made = join(folder.path, 'out');
  await runExport({
    flags: {
      ids,
      out: made,
      url: service.url,
      'ids-per-call': '10',
      'rows-per-part': '50',
      format: 'parquet,csv,jsonl,raw',
      compression: 'csv=gzip,jsonl=zstd',
    },
  });
  await service.stop();
  for (const name of readdirSync(made, { recursive: true, encoding: 'utf8' })) {
    if (name !== 'runs.jsonl' && statSync(join(made, name)).isFile()) whole.set(name, readFileSync(join(made, name)));
  }
  await folder.remove();
});

async function copied(): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  for (const [name, bytes] of whole) await putFile(disk.files, join(out, name), bytes);
  return disk;
}

/** What verify says of a copy that was changed: a line for each damage. */
async function saidOf(change: (files: Disk) => Promise<void>): Promise<string[]> {
  const { files } = await copied();
  await change(files);
  try {
    return (await verifyExport(files, out)).damage.map(({ path, problem }) => `${path}: ${problem}`);
  } catch (error) {
    if (!(error instanceof ExportError && ['damaged', 'usage'].includes(error.exit))) throw error;
    return [messageOf(error).slice(out.length + 1)];
  }
}

/** Puts other bytes in the place of a file's. */
async function replace(files: Disk, path: string, change: (bytes: Buffer) => Uint8Array): Promise<void> {
  await putFile(files, path, change(await bytesAt(files, path)));
}

/** A file that was written so: the manifest has the hash of what it holds. */
async function writtenSo(files: Disk, path: string, change: (bytes: Buffer) => Buffer): Promise<void> {
  const manifest = await readManifest(files, out);
  if (manifest === undefined) throw new Error('no manifest');
  const bytes = change(await bytesAt(files, `${out}/${path}`));
  await putFile(files, `${out}/${path}`, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const named = manifest.files.map((file) => (file.path === path ? { ...file, bytes: bytes.length, sha256 } : file));
  await writeManifest(files, out, { ...manifest, files: named });
}

const raw = 'raw/assets/part-00001.jsonl';
const parquet = 'parquet/assets/part-00001.parquet';

const badContents: readonly [string, string, (bytes: Buffer) => Buffer, RegExp][] = [
  [
    'the rows of another part',
    parquet,
    () => whole.get(parquet.replace('00001', '00002')) ?? Buffer.alloc(0),
    /^it has (\d+) rows instead of (?!\1)\d+$/,
  ],
  [
    'another column',
    parquet,
    (bytes) => Buffer.from(bytes.toString('latin1').replaceAll('interface', 'interfact'), 'latin1'),
    /^its columns are .*interfact/,
  ],
  ['no Parquet', parquet, () => Buffer.from('PAR1'), /^it is not a parquet file: /],
];

const changes: Readonly<Record<string, (files: Disk, path: string) => Promise<void>>> = {
  cut: (files, path) => replace(files, path, (bytes) => bytes.subarray(0, -1)),
  emptied: (files, path) => replace(files, path, () => new Uint8Array()),
  'made longer': (files, path) => replace(files, path, (bytes) => Buffer.concat([bytes, Buffer.from('\n')])),
  removed: (files, path) => files.remove(path),
  renamed: (files, path) => files.rename(path, `${path}.old`),
  'made a folder': async (files, path) => {
    await files.remove(path);
    await files.makeFolder(path);
  },
};

describe('verify', () => {
  it('finds nothing wrong with an export that is as it was written', async () => {
    expect(await saidOf(async () => undefined)).toEqual([]);
    expect(whole.size).toBe(1 + 3 * 6);
  });

  it('tells how far it is, up to the last byte, whatever it finds', async () => {
    const { files } = await copied();
    await files.remove(`${out}/raw/assets/part-00001.jsonl`);
    const told: VerifyProgress[] = [];
    const { bytes } = await verifyExport(files, out, { onProgress: (progress) => told.push(progress) });
    expect(told.map((each) => each.bytes)).toEqual(told.map((each) => each.bytes).toSorted((a, b) => a - b));
    const filesTotal = whole.size - 1;
    expect(told.at(-1)).toEqual({ files: filesTotal, filesTotal, bytes, bytesTotal: bytes });
  });

  // Promise, Nothing misread: `verify` finds any flipped bit, and Parquet files of other rows with the right hash
  it('names the file in which any one bit was turned', async () => {
    const random = new SeededRandom([5, 6, 7, 8]);
    const paths = [...whole.keys()];
    for (let turn = 0; turn < 80; turn += 1) {
      const path = paths[turn % paths.length] ?? '';
      const said = await saidOf((files) =>
        replace(files, join(out, path), (bytes) => flipped(bytes, random.below(bytes.length), random.below(8))),
      );
      expect(said).toHaveLength(1);
      expect(said[0]?.startsWith(path), said[0]).toBe(true);
    }
  });

  it.each(Object.entries(changes))('names a file that was %s, whichever it is', async (how, change) => {
    for (const path of whole.keys()) {
      const said = await saidOf((files) => change(files, join(out, path)));
      if (path === 'manifest.json') expect(said.join()).toMatch(/manifest/);
      else if (how === 'renamed') {
        expect(said).toEqual([`${path}: it is missing`]);
      } else {
        expect(said).toHaveLength(1);
        expect(said[0]?.startsWith(path)).toBe(true);
      }
    }
  });

  it.each([
    'note.txt',
    'csv/note.txt',
    'csv/assets/part-00003.csv.gz',
    'csv/assets/deep/er/file',
    'parquet/other/part-00000.parquet',
    'unexported/part-00003.csv',
    'new/part-00000.csv',
    '.DS_Store',
    '_SUCCESS',
    'csv/report.html',
  ])('names %s when it was added, which damages nothing', async (name) => {
    const { files } = await copied();
    await putFile(files, join(out, name), Buffer.from('x'));
    expect(await verifyExport(files, out)).toMatchObject({ damage: [], strangers: [name] });
  });

  it('counts the companions of an export as its own', async () => {
    const { files } = await copied();
    for (const name of ['runs.jsonl', 'report.html']) await putFile(files, join(out, name), Buffer.from('x'));
    expect(await verifyExport(files, out)).toMatchObject({ damage: [], strangers: [] });
  });

  // Promise, Nothing lost: `verify` reports a file that vanishes while it reads
  it('names a file that vanishes while it reads, and passes over a stranger that does', async () => {
    const { files } = await copied();
    await putFile(files, `${out}/note.txt`, Buffer.from('x'));
    const fleeting = new Set([`${out}/${raw}`, `${out}/note.txt`]);
    const sizeOf: Disk['sizeOf'] = async (path) => {
      if (path === `${out}/note.txt`) await files.remove(path);
      const size = await files.sizeOf(path);
      if (fleeting.delete(path)) await files.remove(path);
      return size;
    };
    expect(await verifyExport({ ...files, sizeOf }, out)).toMatchObject({
      damage: [{ path: raw, problem: 'it disappeared during verify' }],
      strangers: [],
    });
  });

  it.each(badContents)('finds %s in %s, though the hash is right', async (...[, path, change, problem]) => {
    const said = await saidOf((files) => writtenSo(files, path, change));
    expect(said).toHaveLength(1);
    expect(said[0]?.startsWith(`${path}: `)).toBe(true);
    expect(said[0]?.slice(path.length + 2)).toMatch(problem);
  });

  it('names all of several damages', async () => {
    const said = await saidOf(async (files) => {
      for (const part of [0, 1, 2]) await files.remove(`${out}/csv/assets/part-0000${part}.csv.gz`);
      await putFile(files, `${out}/unexported/part-00001.csv`, Buffer.from('x'));
    });
    const missing = [0, 1, 2].map((part) => `csv/assets/part-0000${part}.csv.gz: it is missing`);
    expect(said).toEqual(expect.arrayContaining(missing));
    expect(said.join()).toMatch(/unexported\/part-00001\.csv: it has 1 bytes instead of \d+/);
    expect(said).toHaveLength(4);
  });

  it('refuses a folder without a manifest, and says where it stands', async () => {
    const { files } = new MemoryDisk();
    await expect(verifyExport(files, out)).rejects.toMatchObject({
      exit: 'usage',
      message: `${out} is not an export: it does not exist`,
    });
    await files.makeFolder(out);
    await expect(verifyExport(files, out)).rejects.toMatchObject({
      exit: 'usage',
      message: `${out} is not an export: it has neither a manifest nor a start`,
    });
    await putFile(files, `${out}/.run/start.json`, new Uint8Array(1));
    await expect(verifyExport(files, out)).rejects.toMatchObject({
      exit: 'unfinished',
      todo: expect.stringContaining('asset-export status') as string,
    });
  });
});
