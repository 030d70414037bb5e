import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { type Clock, dayMs, systemClock } from '../../src/lib/clock.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { requireManifest } from '../../src/places/export/manifest.ts';
import { loadExport } from '../../src/wings/load/load-export.ts';
import { parseTarget } from '../../src/wings/load/load-target.ts';
import { sampled } from '../model/support/sample.ts';
import { writeSmallIds } from '../model/support/small-export.ts';
import { SmallFleet, steps as commands } from '../model/support/small-fleet.ts';
import { undisturbedRun, wrongFiles } from '../model/support/undisturbed.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { firstNight, serviceWith } from '../support/nights.ts';
import { queryDuckdb } from '../support/query-duckdb.ts';
import { runExport } from '../support/run-export.ts';
import { tempFolder } from '../support/temp-folder.ts';

const hourMs = 3_600_000;
const steps = [2 * hourMs, dayMs, 365 * dayMs].flatMap((ms) => [ms, -ms]);

/** Steps after so many looks. Every 5th of them steps forward and back. */
const stepsAfter = (...looks: number[]) =>
  sampled(
    looks.flatMap((look) => steps.map((ms) => [ms, look] as const)),
    5,
  );

/** A clock whose time of day steps once, after so many looks at it. */
function stepping(stepMs: number, looks: number, clock: Clock): Clock {
  let looked = 0;
  return { ...clock, now: () => clock.now() + ((looked += 1) > looks ? stepMs : 0) };
}

const clockOf = (day: number): Clock => ({ ...systemClock, now: () => firstNight + day * dayMs });
const ids = Array.from({ length: 100 }, (_, n) => generatedId(4, n));
const records = ids.map(generatedRecord);
const newer = records.map((record, n) => (n % 7 === 0 ? record.replace('"burnt":false', '"burnt":true') : record));

/** Three nights, and what each found; the time of day steps in those of this clock. */
async function nights(clockOfNight: (day: number) => Clock, load: (folder: string) => Promise<unknown>) {
  const top = await tempFolder();
  const figures: unknown[] = [];
  for (const [day, [known, listed]] of [
    [records.slice(0, 80), ids.slice(0, 90)] as const,
    [newer, ids.slice(5)] as const,
    [newer, ids] as const,
  ].entries()) {
    const service = await serviceWith(known);
    const file = join(top, 'ids.txt');
    await localDisk.remove(file);
    const handle = await localDisk.open(file, 'create');
    await handle.write(Buffer.from(listed.map((id) => `${id}\n`).join('')));
    await handle.close();
    const out = join(top, `date=2026-11-2${day}`);
    const flags = {
      ...{ ids: file, url: service.url, out, format: 'parquet', 'ids-per-call': '10', 'rows-per-part': '30' },
      ...{ base: day === 0 ? 'none' : join(top, 'date=*'), 'max-age': '2d', 'base-credits': '480', concurrency: '2' },
      ...{ tables: 'assets,creators,changes', threads: '1' },
    };
    const { state, callsOfRun } = await runExport({ flags, context: { clock: clockOfNight(day) } });
    await service.stop();
    const { counts, base, startedAtMs } = await requireManifest(localDisk, out);
    figures.push({ state, callsOfRun, counts, base: { ...base, seal: '' }, startedAtMs, loaded: await load(out) });
  }
  return figures;
}

describe('when the time of day steps in the middle', () => {
  // Promise, In operation: Figures stay the same when the clock steps by hours or a year (sampled)
  it('nights request and carry the same, and their loads hold the same', async () => {
    const loads = (clock: (day: number) => Clock) => async () => {
      const file = join(await tempFolder(), 'nights.duckdb');
      let day = 0;
      return nights(clock, async (folder) => {
        const request = {
          files: localDisk,
          folder,
          kind: 'duckdb' as const,
          mode: 'scd2' as const,
          note: () => undefined,
          maxDeletes: '50%',
        };
        await loadExport({ ...request, clock: clock((day += 1)) }, parseTarget(`duckdb:${file}`, '/'));
        return queryDuckdb(
          `ATTACH '${file}' AS d (READ_ONLY); SELECT count(*), count(valid_to), max(valid_from)::VARCHAR FROM d.assets`,
        );
      });
    };
    const usual = await loads(clockOf)();
    for (const [stepMs, looks] of stepsAfter(3, 12))
      expect(await loads((day) => stepping(stepMs, looks, clockOf(day)))(), `${stepMs} ${looks}`).toEqual(usual);
  }, 120_000);

  it('a fleet makes each slice once', async () => {
    const idsPath = writeSmallIds(await tempFolder());
    const calm = await undisturbedRun(new SmallFleet(idsPath));
    for (const [stepMs, looks] of stepsAfter(5, 30)) {
      const first = new SmallFleet(idsPath);
      await first.enqueue();
      const clock = createFakeClock();
      const workers = [first, new SmallFleet(idsPath, first.bucket)];
      const ended = workers.map((each, index) =>
        each.run({
          make: commands.work({ index, count: 2 }),
          context: { clock: index === 0 ? clock : stepping(stepMs, looks, clock) },
        }),
      );
      const outcomes = await clock.runUntil(Promise.all(ended), 'wait');
      const name = `${stepMs} after ${looks}`;
      expect(
        outcomes.map((outcome) => outcome?.error?.message ?? outcome?.state),
        name,
      ).toEqual(['complete', 'complete']);
      const asked = workers.flatMap((each) => [...each.asked.keys()]);
      expect(new Set(asked).size, name).toBe(asked.length);
      expect(wrongFiles(first, calm), name).toEqual([]);
    }
  }, 60_000);
});
