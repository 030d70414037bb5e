import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dayMs, systemClock } from '../../../../src/lib/clock.ts';
import {
  openSource,
  rebuildExport,
  type RebuiltOutput,
  rebuiltJob,
} from '../../../../src/wings/repair/rebuild/rebuild-export.ts';
import { verifyExport } from '../../../../src/exports/verify-export.ts';
import { tables } from '../../../../src/core/records/columns.ts';
import { generatedId, generatedRecord } from '../../../../packages/practice-service/src/generated/generated-assets.ts';
import { contentSeal, readManifest } from '../../../../src/places/export/manifest.ts';
import { localDisk } from '../../../../src/places/files/disk.ts';
import type { ExportContext } from '../../../../src/core/run/export-context.ts';
import type { RunEvent } from '../../../../src/core/work/run-events.ts';
import { sampled } from '../../../model/support/sample.ts';
import { firstNight, night } from '../../../support/nights.ts';
import { exportBytes, runExport } from '../../../support/run-export.ts';
import { runHere } from '../../../support/run-here.ts';
import { keptFolder, tempFolder } from '../../../support/temp-folder.ts';

const known = Array.from({ length: 110 }, (_, n) => generatedId(6, n));
const records = known.slice(0, 100).map(generatedRecord);
/** Ten that the service does not know, one that is no id, and two that come twice. */
const ids = [...known.slice(0, 50), 'no-id', known[3] ?? '', ...known.slice(50), known[60] ?? ''];
const whole = tables.map(({ name }) => name);

interface Rebuild {
  readonly from: string;
  readonly to: string;
  readonly output?: RebuiltOutput;
  readonly join?: number;
  readonly fresh?: boolean;
  readonly context?: Partial<ExportContext>;
}

async function rebuild({ from, to, output = {}, join: joined = 1, fresh = false, context = {} }: Rebuild) {
  const source = await openSource(from, localDisk);
  const job = rebuiltJob(source, to, output);
  return runExport({
    flags: { ids: '/dev/null', url: 'http://127.0.0.1:9', out: to },
    context: { clock: { ...systemClock, now: () => firstNight + 9 * dayMs }, ...context },
    make: (_, all) => rebuildExport({ source, job, join: joined, fresh }, all),
  });
}

/** The bytes of an export but its account. */
function tableBytes(folder: string): [string, string][] {
  return Object.entries(exportBytes(folder)).filter(([path]) => path !== 'manifest.json');
}

let idsFile: string;

beforeAll(async () => {
  const folder = await keptFolder();
  idsFile = join(folder.path, 'ids.txt');
  writeFileSync(idsFile, `${ids.join('\n')}\n`);
  return () => folder.remove();
});

async function exported(flags: Readonly<Record<string, unknown>>): Promise<string> {
  const out = await tempFolder();
  const outcome = await night({ day: 0, records, ids, out, flags: { ids: idsFile, tables: whole.join(), ...flags } });
  expect(outcome.state).toBe('complete');
  return out;
}

describe('an export that is rebuilt', () => {
  it.each(sampled(['raw', 'parquet', 'jsonl', 'csv'], 4))(
    // Promise, Nothing misread: A rebuilt export, from any format, has the bytes of a requested one (sampled)
    'from %s has the bytes of one that was requested, and its account',
    async (format) => {
      const formats = ['parquet', 'csv', 'jsonl', ...(format === 'raw' ? ['raw'] : [])] as const;
      const flags = { 'exported-at': true };
      const from = await exported({ ...flags, format });
      const requested = await exported({ ...flags, format: formats.join() });
      const to = await tempFolder();
      const outcome = await rebuild({ from, to, output: { formats: [...formats] as never } });
      expect(outcome).toMatchObject({ state: 'complete', callsOfRun: 0, creditsOfRun: 0 });
      expect(tableBytes(to)).toEqual(tableBytes(requested));
      const [made, source, direct] = [
        await readManifest(localDisk, to),
        await readManifest(localDisk, from),
        await readManifest(localDisk, requested),
      ];
      expect(made?.rebuilt).toEqual({
        seal: source === undefined ? '' : contentSeal(source),
      });
      expect({ ...made, rebuilt: undefined, job: undefined }).toEqual({ ...direct, job: undefined });
      expect((await verifyExport(localDisk, to)).damage).toEqual([]);
    },
  );

  it('begins when it is rebuilt, whenever its source began', async () => {
    const from = await exported({ format: 'raw', tables: 'assets' });
    const resumed: unknown[] = [];
    const listener = (event: RunEvent): void => {
      if (event.kind === 'opened') resumed.push(event.isResumed);
    };
    await rebuild({ from, to: await tempFolder(), context: { listener } });
    expect(resumed).toEqual([false]);
  });

  it('writes tables and columns that the source does not have', async () => {
    const from = await exported({ format: 'raw', tables: 'assets' });
    const requested = await exported({ format: 'csv', tables: 'assets,creators', columns: 'id,ownership_owner' });
    const to = await tempFolder();
    await rebuild({
      from,
      to,
      output: { formats: ['csv'], tables: ['assets', 'creators'], columns: ['id', 'ownership_owner'] },
    });
    expect(tableBytes(to)).toEqual(tableBytes(requested));
  });

  it('joins neighbouring parts', async () => {
    const idFile = join(await tempFolder(), 'ids.txt');
    const every = { ids: known.slice(0, 100), idFile, records, day: 0 };
    const [small, large, to] = [await tempFolder(), await tempFolder(), await tempFolder()];
    await night({ ...every, out: small, flags: { format: 'jsonl', 'rows-per-part': '20' } });
    await night({ ...every, out: large, flags: { format: 'csv', 'rows-per-part': '40' } });
    const outcome = await rebuild({ from: small, to, output: { formats: ['csv'] }, join: 2 });
    expect(outcome.account.parts).toBe(3);
    expect(tableBytes(to)).toEqual(tableBytes(large));
    expect((await readManifest(localDisk, to))?.files.map(({ first, last }) => [first, last])).toEqual(
      (await readManifest(localDisk, large))?.files.map(({ first, last }) => [first, last]),
    );
  });

  it('keeps when each row was requested, and what changed', async () => {
    const [first, second, to] = [await tempFolder(), await tempFolder(), await tempFolder()];
    const flags = { format: 'csv,raw', tables: 'assets,changes', 'max-age': '5d' };
    await night({ day: 0, records, ids: known.slice(0, 60), out: first, flags: { ...flags, base: 'none' } });
    await night({ day: 2, records, ids, out: second, flags: { ...flags, base: first } });
    const outcome = await rebuild({ from: second, to });
    expect(outcome.account).toMatchObject({ counts: { exported: 50, carried: 50, missing: 10 } });
    expect(tableBytes(to)).toEqual(tableBytes(second));
    // What is rebuilt is a base like any other.
    const third = await tempFolder();
    const next = await night({ day: 3, records: [], ids, out: third, flags: { ...flags, base: to } });
    expect(next).toMatchObject({ sent: 0, account: { counts: { carried: 100, missing: 10 } } });
  });

  it('goes on where it was stopped, and is not made twice', async () => {
    const from = await exported({ format: 'jsonl' });
    const [calm, cut] = [await tempFolder(), await tempFolder()];
    await rebuild({ from, to: calm, output: { formats: ['csv'] } });
    const stop = new AbortController();
    const stopping: Partial<ExportContext> = {
      stop: stop.signal,
      listener: ({ kind }) => {
        if (kind === 'committed') stop.abort(new Error('stopped'));
      },
    };
    await expect(rebuild({ from, to: cut, output: { formats: ['csv'] }, context: stopping })).rejects.toThrow(
      'stopped',
    );
    await expect(rebuild({ from, to: cut, output: { formats: ['jsonl'] } })).rejects.toMatchObject({ exit: 'usage' });
    const parts: number[] = [];
    const outcome = await rebuild({
      from,
      to: cut,
      output: { formats: ['csv'] },
      context: {
        listener: (event) => {
          if (event.kind === 'committed') parts.push(event.commit.part);
        },
      },
    });
    expect(outcome.state).toBe('complete');
    // The second part may have been ready when the first was committed: then it was committed too.
    expect(parts).not.toContain(0);
    expect(parts.at(-1)).toBe(2);
    expect(exportBytes(cut)).toEqual(exportBytes(calm));
    expect((await rebuild({ from, to: cut, output: { formats: ['csv'] } })).state).toBe('already');
  });

  it('is refused by a run, and refuses another source', async () => {
    const [from, other] = [await exported({ format: 'jsonl' }), await exported({ format: 'csv' })];
    const to = await tempFolder();
    await rebuild({ from, to, output: { formats: ['csv'] } });
    await expect(rebuild({ from: other, to })).rejects.toMatchObject({ exit: 'input' });
    await expect(
      night({ day: 0, records, ids, out: to, flags: { tables: whole.join(), format: 'csv' } }),
    ).rejects.toMatchObject({
      exit: 'input',
    });
    expect((await rebuild({ from: other, to, fresh: true })).state).toBe('complete');
  });

  // Promise, Nothing misread: A rebuild takes no record from a damaged file, and resumes only with the same source
  it('is not made of damaged files', async () => {
    const from = await exported({ format: 'jsonl' });
    writeFileSync(join(from, 'jsonl/assets/part-00001.jsonl'), '{}\n');
    const outcome = await rebuild({ from, to: await tempFolder() });
    expect(outcome.error).toMatchObject({ exit: 'damaged' });
    expect(outcome.account.parts).toBe(1);
  });

  it.each([
    ['into itself', { format: 'csv' }, {}, 'into itself'],
    ['to raw from tables', { format: 'csv' }, { formats: ['raw'] }, 'has no raw files'],
    [
      'with changes that it does not have',
      { format: 'csv' },
      { tables: ['assets', 'changes'] },
      'has no table changes',
    ],
    ['from chosen columns', { format: 'csv', columns: 'id,ownership_owner' }, { formats: ['jsonl'] }, 'omitted'],
  ] as const)('refuses to be made %s', async (...[what, flags, output, message]) => {
    const from = await exported(flags);
    const to = what === 'into itself' ? from : await tempFolder();
    await expect(rebuild({ from, to, output: output as never })).rejects.toMatchObject({
      exit: 'usage',
      message: expect.stringContaining(message) as unknown,
    });
  });

  it('needs a complete export', async () => {
    await expect(openSource(await tempFolder(), localDisk)).rejects.toMatchObject({ exit: 'usage' });
  });
});

describe('the command', () => {
  it('writes raw alone, or no assets, where no row has an age', async () => {
    const from = await exported({ format: 'raw,csv', tables: 'assets' });
    const run = async (...flags: string[]) =>
      runHere(['rebuild', from, '--out', join(await tempFolder(), 'new'), ...flags], {
        environment: { ASSET_EXPORT_MAX_AGE: '1d' },
      });
    expect((await run('--format', 'raw')).exit).toBe(0);
    expect((await run('--tables', 'creators')).exit).toBe(0);
    expect((await run('--tables', 'assets,changes')).stderr).toContain('must not name changes');
  });
});
