import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLedgers } from '../../src/core/client/ledger/credit-ledger.ts';
import { startGeneratedService } from '../support/service/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { exportBytes } from '../support/run-export.ts';
import { runHere } from '../support/run-here.ts';
import { type ProgramRun, startProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const key = 'the-one-key';

async function booked(stateDir: string): Promise<number> {
  const days = await readLedgers({ stateDir, apiKey: key });
  return days.reduce((sum, { credits }) => sum + credits, 0);
}

describe('a budget', () => {
  it.each(['--credits-per-day', '--credits-per-run'])(
    // Promise, Nothing overspent: A budget sends exactly its calls, then exit 8; the same command resumes
    'of five calls (%s) sends exactly five, ends with 8, and with more budget the same command finishes',
    async (flag) => {
      const folder = await tempFolder();
      await writeIdFile(join(folder, 'ids.txt'), { entries: 120, duplicatePercent: 4 });
      const service = await startGeneratedService({ missingPercent: 3, jitterMs: 10 });
      const stateDir = join(folder, 'state');
      const options = { cwd: folder, environment: { ASSET_EXPORT_API_KEY: key, ASSET_EXPORT_STATE: stateDir } };
      const command = [
        ...['run', '--ids', 'ids.txt', '--url', service.url, '--ids-per-call', '10', '--rows-per-part', '50'],
        ...['--format', 'csv', '--json'],
      ];
      const first = await runHere([...command, '--threads', '1', '--out', 'out', flag, '800'], options);
      expect(first.exit, first.stderr).toBe(8);
      expect(service.counts().calls).toBe(5);
      expect(await booked(stateDir)).toBe(800);
      expect(first.stderr).toContain('800');
      if (flag === '--credits-per-day') expect(first.stderr).toMatch(/\d{4}-\d\d-\d\d 00:00 UTC \(in \d+ (h|min)/);
      expect(JSON.parse(first.stdout)).toMatchObject({ state: 'unfinished', exitCode: 8, calls: 5, credits: 800 });
      const last = await runHere([...command, '--threads', '1', '--out', 'out', flag, '1920'], options);
      expect(last.exit, last.stderr).toBe(0);
      expect(service.counts().calls).toBe(12);
      expect(await booked(stateDir)).toBe(12 * 160);
      const calm = await runHere([...command, '--threads', '1', '--out', 'calm'], options);
      expect(calm.exit).toBe(0);
      await service.stop();
      expect(exportBytes(join(folder, 'out'))).toEqual(exportBytes(join(folder, 'calm')));
    },
  );

  // Promise, Nothing overspent: Programs that share a key share a day's budget, also killed ones
  it('of a day is kept by several programs at once that share a key, one of them killed', async () => {
    const folder = await tempFolder();
    await writeIdFile(join(folder, 'ids.txt'), { entries: 150 });
    const service = await startGeneratedService({ delayMs: 30, jitterMs: 30 });
    const stateDir = join(folder, 'state');
    const options = { cwd: folder, environment: { ASSET_EXPORT_API_KEY: key, ASSET_EXPORT_STATE: stateDir } };
    const limit = 20;
    const start = (out: string) =>
      startProgram(
        [
          ...['run', '--ids', 'ids.txt', '--url', service.url, '--out', out, '--ids-per-call', '10', '--format', 'csv'],
          ...['--credits-per-day', String(160 * limit)],
        ],
        options,
      );
    const programs = ['a', 'b', 'c'].map(start);
    while (service.counts().calls < limit / 2) await new Promise((resolve) => setTimeout(resolve, 2));
    programs[0]?.child.kill('SIGKILL');
    const ends: ProgramRun[] = await Promise.all(programs.map(({ ended }) => ended));
    expect(ends[0]?.exit).toBe('SIGKILL');
    const sent = service.counts().calls;
    const spent = await booked(stateDir);
    expect(spent).toBe(160 * limit);
    expect(sent).toBeLessThanOrEqual(limit);
    // The one that was killed had booked at most its calls in flight without sending them.
    expect(sent).toBeGreaterThanOrEqual(limit - 8);
    // 15 calls each: at most one of the two that were left can have finished.
    expect(ends.slice(1).map(({ exit }) => exit)).toContain(8);
    const again = await start('a').ended;
    expect(again.exit).toBe(8);
    expect(service.counts().calls).toBe(sent);
    await service.stop();
  });
});
