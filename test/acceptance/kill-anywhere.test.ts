import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCheckpoint } from '../../src/store/checkpoint.ts';
import { diskFileStore } from '../../src/store/file-store.ts';
import { openJournal } from '../../src/store/journal.ts';
import type { GeneratedService } from '../support/generated-service.ts';
import { startGeneratedService } from '../support/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { exportBytes } from '../support/run-export.ts';
import { runProgram, startProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const kills = 50;
const calls = 150;
const concurrency = 8;

/** Calls that the service has answered whole, or is asked for. */
async function reached(service: GeneratedService, sent: number): Promise<void> {
  while (service.counts().calls < sent) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Answers that are safe: their calls must never be sent again. */
async function answersKept(folder: string): Promise<{ parts: number; answers: number }> {
  const checkpoint = await readCheckpoint(diskFileStore, folder);
  const journal = await openJournal(diskFileStore, folder);
  const kept = { parts: checkpoint?.commits.length ?? 0, answers: journal.size() };
  await journal.close();
  return kept;
}

describe('an export that is killed', () => {
  it(`with SIGKILL at ${kills} points ends with the bytes of an undisturbed run, and asks for no kept answer again`, async () => {
    const folder = await tempFolder();
    const environment = { ASSET_EXPORT_API_KEY: 'canary', ASSET_EXPORT_STATE: await mkdtemp(join(tmpdir(), 'asset-export-state-')) };
    await writeIdFile(join(folder, 'ids.txt'), { entries: calls * 20, invalidPercent: 2, duplicatePercent: 2 });
    const flags = (service: GeneratedService, out: string): string[] => [
      ...['run', '--ids', 'ids.txt', '--url', service.url, '--out', out, '--ids-per-call', '20', '--rows-per-part', '333'],
      ...['--concurrency', String(concurrency), '--format', 'parquet,csv,jsonl', '--tables', 'assets,creators'],
    ];

    const calm = await startGeneratedService({ missingPercent: 3 });
    const undisturbed = await runProgram(flags(calm, 'calm'), { cwd: folder, environment });
    await calm.stop();
    expect(undisturbed).toMatchObject({ exit: 0 });
    const total = calm.counts().calls;

    const service = await startGeneratedService({ missingPercent: 3, jitterMs: 30 });
    let paidAgain = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const before = service.counts();
      const { child, ended } = startProgram(flags(service, 'killed'), { cwd: folder, environment });
      // The points lie from before the first call to behind the last, with a little more at every second one.
      const target = Math.floor(((kill + 1) * total) / kills) + before.calls - answered(before);
      await Promise.race([reached(service, Math.min(target, before.calls + 6)), ended]);
      if (kill % 2 === 1) await new Promise((resolve) => setTimeout(resolve, (kill * 7) % 40));
      child.kill('SIGKILL');
      await ended;
      await answersKept(join(folder, 'killed'));
      paidAgain = service.counts().batches.reduce((sum, batch) => sum + batch.asked - 1, 0);
    }
    const last = await runProgram(flags(service, 'killed'), { cwd: folder, environment });
    await service.stop();

    expect(last.exit, last.stderr).toBe(0);
    expect({ ...exportBytes(join(folder, 'killed')), 'manifest.json': '' }).toEqual({
      ...exportBytes(join(folder, 'calm')),
      'manifest.json': '',
    });
    expect(paidAgain).toBeLessThanOrEqual(kills * concurrency);
  }, 300_000);
});

function answered({ batches }: ReturnType<GeneratedService['counts']>): number {
  return batches.filter((batch) => batch.answered > 0).length;
}
