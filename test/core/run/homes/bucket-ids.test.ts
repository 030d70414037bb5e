import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { namePattern } from '../../../../src/core/ids/id-input.ts';
import { writeSmallIds, goodAnswer } from '../../../model/support/small-export.ts';
import { steps } from '../../../model/support/small-fleet.ts';
import { storeWithin } from '../../../../src/places/objects/object-store.ts';
import { MemoryObjects, type StoreWeather } from '../../../support/memory-objects.ts';
import { type MakeExport, runExport } from '../../../support/run-export.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

/** The ids of the small export in two files of a bucket, and commands on them. */
async function idsInBucket(weather?: (ids: MemoryObjects) => StoreWeather) {
  const folder = await tempFolder();
  const lines = readFileSync(writeSmallIds(folder), 'utf8').trim().split('\n');
  const ids = new MemoryObjects();
  const put = (name: string, bytes: Buffer) => ids.open().put(name, { bytes });
  await put('night/b.txt.gz', gzipSync(lines.slice(9).join('\n')));
  await put('night/a.txt', Buffer.from(`${lines.slice(0, 9).join('\n')}\n`));
  await put('night/deep/c.txt', Buffer.from('other\n'));
  const bucket = new MemoryObjects();
  const run = (from: string, out: string, make?: MakeExport) =>
    runExport({
      flags: {
        ids: from,
        out,
        url: 'http://127.0.0.1:9',
        'ids-per-call': '4',
        'rows-per-part': '11',
        format: 'csv',
        scratch: join(folder, 'scratch'),
        'entries-per-slice': '12',
        threads: '1',
      },
      make,
      context: {
        openStore: async ({ address }) =>
          address === 's3://ids/night' ? storeWithin(ids.open(weather?.(ids)), 'night') : bucket.open(),
        openWire: () => ({ ask: async (call) => goodAnswer(call), close: () => Promise.resolve() }),
      },
    });
  return { folder, ids: { put: (name: string, text: string) => put(name, Buffer.from(text)) }, bucket, run };
}

describe('ids in a bucket', () => {
  it.each([
    { what: 'vanish', exit: 'input', run: undefined },
    { what: 'vanish, of enqueue,', exit: 'input', run: steps.enqueue() },
  ])('that $what while they are read end with exit 4', async ({ exit, run: make }) => {
    let reads = 0;
    const { run } = await idsInBucket((ids) => ({ kind, name }, when) => {
      // They are looked at, then read.
      if (kind === 'read' && when === 'before' && (reads += 1) > 1) ids.objects.delete(name);
    });
    const out = 's3://bucket/new';
    const ended = await run('s3://ids/night/*', out, make).catch((error: unknown) => ({ error }));
    expect(ended.error).toMatchObject({ exit, message: expect.stringContaining('does not exist') as string });
  });

  it('are read in the order of their names, by run and by enqueue', async () => {
    const { folder, bucket, run } = await idsInBucket();
    const local = await run(join(folder, 'ids.txt'), join(folder, 'local'));
    const remote = await run('s3://ids/night/*', join(folder, 'remote'));
    expect(remote).toMatchObject({ state: 'complete', account: { counts: local.account.counts } });
    const csv = (name: string) => readFileSync(join(folder, name, 'csv/assets/part-00000.csv'), 'utf8');
    expect(csv('remote')).toBe(csv('local'));
    expect(await run('s3://ids/night/*', join(folder, 'remote'))).toMatchObject({ state: 'already' });

    await run('s3://ids/night/*', 's3://bucket/fleet', steps.enqueue());
    const made = await run('s3://ids/night/*', 's3://bucket/fleet', steps.work());
    expect(made).toMatchObject({ state: 'complete', account: { counts: local.account.counts } });
    expect(Buffer.from(bucket.objects.get('csv/assets/part-00000.csv')?.bytes ?? []).toString()).toBe(csv('local'));
    const manifest = JSON.parse(Buffer.from(bucket.objects.get('manifest.json')?.bytes ?? []).toString()) as {
      inputs: { name: string }[];
    };
    expect(manifest.inputs.map(({ name }) => name)).toEqual(['s3://ids/night/a.txt', 's3://ids/night/b.txt.gz']);
  });

  it('that changed or are not there are refused', async () => {
    const { folder, ids, run } = await idsInBucket();
    await run('s3://ids/night/a.txt', join(folder, 'out'));
    await ids.put('night/a.txt', 'more\n');
    await expect(run('s3://ids/night/a.txt', join(folder, 'out'))).rejects.toMatchObject({ exit: 'input' });
    for (const none of ['s3://ids/night/none.txt', 's3://ids/night/*.csv'])
      await expect(run(none, join(folder, 'none'))).rejects.toMatchObject({ exit: 'input' });
  });
});

it.each([
  ['*.txt', 'a.txt', 'deep/a.txt'],
  ['**/*.txt', 'deep/er/a.txt', 'a.csv'],
  ['**/*.txt', 'a.txt', 'txt'],
  ['a[1].txt', 'a[1].txt', 'a1.txt'],
  ['é b&#/*.txt', 'é b&#/a.txt', 'e b/a.txt'],
])('the pattern %s matches %s and not %s', (pattern, yes, no) => {
  expect(namePattern(pattern).test(yes)).toBe(true);
  expect(namePattern(pattern).test(no)).toBe(false);
});
