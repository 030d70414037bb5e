import { cpSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Job } from '../../../src/core/job/job-schema.ts';
import { folderNights } from '../../../src/wings/nights/folder-nights.ts';
import { planPruning } from '../../../src/wings/nights/prune-exports.ts';
import { errorOf } from '../../../src/core/run/tolerance.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { readManifest } from '../../../src/places/export/manifest.ts';
import type { ExportContext } from '../../../src/core/run/export-context.ts';
import { night } from '../../support/nights.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';

const ids = Array.from({ length: 200 }, (_, n) => generatedId(4, n));
const others = Array.from({ length: 200 }, (_, n) => generatedId(5, n));
const records = [...ids, ...others].map(generatedRecord);

const firstOnly = await keptFolder();
afterAll(() => firstOnly.remove());

/** A first night of all ids, which is made once, and nights of other lists, all in one folder. */
async function nights() {
  if (readdirSync(firstOnly.path).length === 0) await nightsAt(firstOnly.path).run(0, ids, { base: 'none' });
  const top = await tempFolder();
  cpSync(firstOnly.path, top, { recursive: true, verbatimSymlinks: true });
  return nightsAt(top);
}

function nightsAt(top: string) {
  const dayOf = (day: number): string => join(top, `date=2026-11-${20 + day}`);
  const run = async (
    day: number,
    list: readonly string[],
    { output = {}, ...flags }: Readonly<Record<string, unknown>> & { readonly output?: Partial<Job['output']> } = {},
  ) => {
    const warnings: string[] = [];
    const own = { format: 'csv', latest: true, base: join(top, 'date=*'), ...flags };
    const listener: ExportContext['listener'] = (event) => {
      if (event.kind === 'warning') warnings.push(event.message);
    };
    const idFile = join(top, `.ids-${day}.txt`);
    const context = { listener };
    const outcome = await night({ day, records, ids: list, idFile, out: dayOf(day), flags: own, output, context });
    const { job } = loadJob({ flags: { ids: 'a', url: 'http://localhost', out: 'o', ...own }, folder: '/' });
    return { ...outcome, warnings, exit: errorOf(outcome, job)?.exit };
  };
  const manifestOf = (day: number) => readManifest(localDisk, dayOf(day));
  return { top, run, manifestOf, latest: () => readlinkSync(join(top, 'latest')) };
}

// Promise, Nothing misread: A list that lacks too much of the base ends with 3, a base without a common id before any call
describe('a list that is cut short', () => {
  it('is said before the first call, ends with 3, is set aside, and leaves latest where it was', async () => {
    const { run, manifestOf, latest } = await nights();
    const short = await run(1, ids.slice(0, 150));
    expect(short.warnings.join()).toMatch(/50 of 200 assets of the base .* are not listed now/);
    expect(short).toMatchObject({ exit: 'notTolerated', sent: 0, account: { base: { rows: 200, unlisted: 50 } } });
    expect((await manifestOf(1))?.setAside).toBe('unlisted');
    expect(latest()).toBe('date=2026-11-20');
  });

  it('is no base of the next night, whose list is whole: that pays for nothing again', async () => {
    const { run, manifestOf, latest } = await nights();
    await run(1, ids.slice(0, 20));
    const whole = await run(2, ids);
    expect(whole).toMatchObject({ sent: 0, exit: undefined });
    expect((await manifestOf(2))?.base?.name).toBe('date=2026-11-20');
    expect(latest()).toBe('date=2026-11-22');
  });

  it('is judged again by the same command: with a larger limit it costs no call, and ends with 0', async () => {
    const { run, manifestOf, latest } = await nights();
    await run(1, ids.slice(0, 100));
    expect(await run(1, ids.slice(0, 100))).toMatchObject({ state: 'already', exit: 'notTolerated' });
    const judged = await run(1, ids.slice(0, 100), { 'max-unlisted': '50%' });
    expect(judged).toMatchObject({ state: 'already', sent: 0, exit: undefined });
    expect((await manifestOf(1))?.setAside).toBeUndefined();
    expect(latest()).toBe('date=2026-11-21');
  });

  it('is a base where it is named, and within the limit it is as any other', async () => {
    const { top, run, manifestOf } = await nights();
    await run(1, ids.slice(0, 20));
    expect((await run(2, ids.slice(0, 20), { base: join(top, 'date=2026-11-21') })).exit).toBeUndefined();
    expect((await manifestOf(2))?.base?.name).toBe('date=2026-11-21');
    const few = await run(3, ids.slice(0, 160), { base: join(top, 'date=2026-11-20') });
    expect(few).toMatchObject({ exit: undefined, account: { base: { unlisted: 40 } } });
    expect(few.warnings.join()).toMatch(/40 of 200 assets .* are not listed now\. .*--max-deletes/);
    const fewer = await run(4, ids.slice(0, 190), { base: join(top, 'date=2026-11-20') });
    expect(fewer.warnings).toEqual([]);
  });

  it('is removed by prune like what no rule keeps, and counts for no rule', async () => {
    const { top, run } = await nights();
    await run(1, ids.slice(0, 20));
    const { kept, removed } = await planPruning(
      folderNights(localDisk, top),
      { last: 2, daily: 0, weekly: 0, monthly: 0 },
      { today: '2026-12-31' },
    );
    expect(removed.map(({ name }) => name)).toEqual(['date=2026-11-21']);
    expect(kept.map(({ name }) => name)).toEqual(['date=2026-11-20']);
  });
});

describe('a base of another job', () => {
  it('ends with exit 4 before any call when it has no id in common', async () => {
    const { run } = await nights();
    const other = await run(1, others);
    expect(other).toMatchObject({ state: 'unfinished', sent: 0, exit: 'input' });
    expect(other.error?.message).toMatch(/none of the 200 ids is in the base .*, which has 200 assets/);
    expect(other.error?.todo).toContain('--base none');
  });

  it('is a warning when it has few of the ids', async () => {
    const { run } = await nights();
    const list = [...ids, ...others, generatedId(6, 1)];
    expect((await run(1, list)).warnings.join()).toMatch(
      /only 200 of 401 ids are in the base .*; all others are requested/,
    );
    expect((await run(2, list.slice(0, -1))).warnings).toEqual([]);
  });
});

describe('a list that is cut short, without a base', () => {
  it('is compared with the night before', async () => {
    const top = await tempFolder();
    const run = async (day: number, list: readonly string[], flags: Readonly<Record<string, unknown>> = {}) => {
      const warnings: string[] = [];
      const listener: ExportContext['listener'] = (event) => {
        if (event.kind === 'warning') warnings.push(event.message);
      };
      const own = { format: 'csv', ...flags };
      await night({ day, records, ids: list, out: join(top, 'date={date}'), flags: own, context: { listener } });
      return warnings.join();
    };
    expect(await run(0, ids)).toBe('');
    expect(await run(1, ids.slice(0, 100))).toBe('');
    expect(await run(2, ids.slice(0, 49))).toMatch(/only 49 ids were read; .*date=2026-11-21 has 100/);
    expect(await run(3, ids.slice(0, 30))).toBe('');
  });
});

describe('base.first: request', () => {
  it('requests everything where the pattern matches nothing yet, says so, and takes the base from then on', async () => {
    const top = await tempFolder();
    const run = async (day: number) => {
      const warnings: string[] = [];
      const listener: ExportContext['listener'] = (event) => {
        if (event.kind === 'warning') warnings.push(event.message);
      };
      const flags = { format: 'csv', base: join(top, 'date=*'), 'base-first': 'request' };
      const out = join(top, `date=2026-11-${20 + day}`);
      const outcome = await night({ day, records, ids, out, flags, context: { listener } });
      return { ...outcome, warnings };
    };
    const first = await run(0);
    expect(first).toMatchObject({ state: 'complete', sent: 10 });
    expect(first.warnings.join()).toMatch(/matches no complete export: everything is requested/);
    expect(await run(1)).toMatchObject({
      state: 'complete',
      sent: 0,
      warnings: [],
      account: { counts: { carried: 200 } },
    });
  });

  it('does not help a fixed path', async () => {
    const top = await tempFolder();
    const flags = { format: 'csv', base: join(top, 'none'), 'base-first': 'request' };
    await expect(night({ day: 0, records, ids, out: join(top, 'out'), flags })).rejects.toMatchObject({
      exit: 'input',
    });
  });
});

function nightsIn(top: string): string[] {
  return readdirSync(top).filter((name) => name.startsWith('date='));
}

describe('output.keep', () => {
  const keep = { last: 2, daily: 0, weekly: 0, monthly: 0 };

  // Promise, Nothing misread: `output.keep` removes neither the export nor its base, and nothing after exit 3
  it('removes what no rule keeps after each run that ends with 0, and neither the export, its base nor a short one', async () => {
    const { top, run } = await nights();
    for (const day of [1, 2]) await run(day, ids);
    await run(3, ids.slice(0, 20), { output: { keep } });
    expect(nightsIn(top)).toEqual(['date=2026-11-20', 'date=2026-11-21', 'date=2026-11-22', 'date=2026-11-23']);
    await run(4, ids, { base: join(top, 'date=2026-11-20'), output: { keep } });
    expect(nightsIn(top)).toEqual(['date=2026-11-20', 'date=2026-11-22', 'date=2026-11-24']);
  });
});
