import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ExportError } from '../../../src/lib/export-error.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { exportBytes, runExport } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** A complete export, some of whose ids are invalid, and the flags that made it. */
async function finished() {
  const folder = await tempFolder();
  const ids = join(folder, 'ids.txt');
  await writeIdFile(ids, { entries: 20, invalidPercent: 20 });
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  const flags = { ids, url: service.url, out: join(folder, 'out'), format: 'csv' };
  await runExport({ flags });
  return { flags, before: exportBytes(flags.out), service };
}

it('a fresh run whose ids cannot be read takes nothing away', async () => {
  const { flags, before, service } = await finished();
  const typo = { ...flags, ids: `${flags.ids}.typo` };
  await expect(runExport({ flags: typo, fresh: true })).rejects.toThrow('no such file');
  expect(exportBytes(flags.out)).toEqual(before);
  expect(service.counts().calls).toBe(1);
});

it('a fresh run that is stopped while it reads its ids takes nothing away', async () => {
  const { flags, before } = await finished();
  const stop = AbortSignal.abort(new ExportError('interrupted', 'stopped'));
  await expect(runExport({ flags, fresh: true, context: { stop } })).rejects.toThrow('stopped');
  expect(exportBytes(flags.out)).toEqual(before);
});

it('a fresh run is refused when its ids lie in what it takes away', async () => {
  const { flags, before } = await finished();
  const again = { ...flags, ids: join(flags.out, 'unexported/part-00000.csv') };
  await expect(runExport({ flags: again, fresh: true })).rejects.toMatchObject({ exit: 'usage' });
  expect(exportBytes(flags.out)).toEqual(before);
});

it.each(['link/unexported/part-00000.csv', 'linked.csv'])(
  'a fresh run is refused when its ids lie in what it takes away, though they are named as %s',
  async (name) => {
    const { flags, before } = await finished();
    const folder = dirname(flags.out);
    symlinkSync('out', join(folder, 'link'));
    symlinkSync('out/unexported/part-00000.csv', join(folder, 'linked.csv'));
    const again = { ...flags, ids: join(folder, name) };
    await expect(runExport({ flags: again, fresh: true })).rejects.toMatchObject({ exit: 'usage' });
    expect(exportBytes(flags.out)).toEqual(before);
  },
);

// Promise, Nothing lost: `--fresh` deletes only the export, and nothing if ids are unreadable
it('a fresh run takes away what the export left, and touches nothing else in its folder', async () => {
  const folder = await tempFolder();
  const ids = join(folder, 'ids.txt');
  await writeIdFile(ids, { entries: 60 });
  const service = await startGeneratedService();
  const out = join(folder, 'out');
  const flags = { ids, url: service.url, out, 'ids-per-call': '10', format: 'csv,jsonl', tables: 'assets,creators' };
  await runExport({ flags: { ...flags, 'rows-per-part': '10' } });
  const strangers = [
    'readme.md',
    'csv/notes.csv',
    'csv/assets/part-00000.txt.bak/x',
    'csv/assets/mine.csv',
    'other/part-00000.csv',
  ];
  for (const name of strangers) {
    mkdirSync(dirname(join(out, name)), { recursive: true });
    writeFileSync(join(out, name), `kept: ${name}`);
  }
  for (const companion of ['runs.jsonl', 'report.html']) writeFileSync(join(out, companion), 'of the first run');
  const before = exportBytes(out);
  const outcome = await runExport({ flags, fresh: true });
  expect(outcome.state).toBe('complete');
  const after = exportBytes(out);
  for (const name of strangers) expect(after[name]).toBe(before[name]);
  expect(
    Object.keys(after)
      .filter((name) => !strangers.includes(name))
      .sort(),
  ).toEqual([
    'csv/assets/part-00000.csv',
    'csv/creators/part-00000.csv',
    'ids/part-00000.csv.gz',
    'jsonl/assets/part-00000.jsonl',
    'jsonl/creators/part-00000.jsonl',
    'manifest.json',
    'unexported/part-00000.csv',
  ]);
  expect(service.counts().calls).toBe(12);
  await service.stop();
});
