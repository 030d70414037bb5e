import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GeneratedService } from '../support/service/generated-service.ts';
import { startGeneratedService } from '../support/service/generated-service.ts';
import { idEntries, writeIdFile } from '../support/id-file.ts';
import { keptAnswers, knownBatches } from '../support/kept-answers.ts';
import { runsAll } from '../support/lane.ts';
import { fileBytes } from '../support/run-export.ts';
import { runHere } from '../support/run-here.ts';
import { startProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const kills = runsAll ? 50 : 4;
const calls = runsAll ? 150 : 40;
const idsPerCall = 20;
const concurrency = 8;

/** Batches that the service has answered at least once. */
function answered(service: GeneratedService): number {
  return service.counts().batches.filter((batch) => batch.answered > 0).length;
}

async function reached(service: GeneratedService, batches: number): Promise<void> {
  while (answered(service) < batches) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Threads take a second to start; threads.whole.test.ts kills them. */
const programFlags = runsAll ? [] : ['--threads', '1'];

const shape = { entries: calls * idsPerCall, invalidPercent: 2, duplicatePercent: 2 };

/** How often each batch was asked for, by its first id. */
function askedCounts(service: GeneratedService): Map<string, number> {
  return new Map(service.counts().batches.map(({ firstId, asked }) => [firstId, asked]));
}

describe('an export that is killed', () => {
  // Promise, Nothing lost: After SIGKILL anywhere, the same command ends with the same bytes (sampled)
  it(`with SIGKILL at ${kills} points ends with the bytes of an undisturbed run, and asks for no kept answer again`, async () => {
    const folder = await tempFolder();
    const environment = {
      ASSET_EXPORT_API_KEY: 'canary',
      ASSET_EXPORT_STATE: await mkdtemp(join(tmpdir(), 'asset-export-state-')),
    };
    await writeIdFile(join(folder, 'ids.txt'), shape);
    const command = (service: GeneratedService, out: string): string[] => [
      ...[
        'run',
        '--ids',
        'ids.txt',
        '--url',
        service.url,
        '--out',
        out,
        '--ids-per-call',
        String(idsPerCall),
        '--rows-per-part',
        '333',
      ],
      ...['--concurrency', String(concurrency), '--format', 'parquet,csv,jsonl', '--tables', 'assets,creators'],
    ];

    const calm = await startGeneratedService({ missingPercent: 3 });
    const undisturbed = await runHere([...command(calm, 'calm'), '--threads', '1'], { cwd: folder, environment });
    await calm.stop();
    expect(undisturbed).toMatchObject({ exit: 0 });
    const total = calm.counts().calls;

    const service = await startGeneratedService({ missingPercent: 3, jitterMs: 30 });
    const batches = knownBatches(idEntries(shape), idsPerCall);
    const askedWhenKept = new Map<string, number>();
    for (let kill = 0; kill < kills; kill += 1) {
      const { child, ended } = startProgram([...command(service, 'killed'), ...programFlags], {
        cwd: folder,
        environment,
      });
      // The points are spread from the first answer to behind the last; every second one lies a little later.
      await Promise.race([reached(service, Math.floor(((kill + 1) * total) / kills)), ended]);
      if (kill % 2 === 1) await new Promise((resolve) => setTimeout(resolve, (kill * 7) % 40));
      child.kill('SIGKILL');
      await ended;
      const asked = askedCounts(service);
      for (const first of await keptAnswers(join(folder, 'killed'), batches)) {
        if (!askedWhenKept.has(first)) askedWhenKept.set(first, asked.get(first) ?? 0);
      }
    }
    const last = await runHere([...command(service, 'killed'), '--threads', '1'], { cwd: folder, environment });
    await service.stop();

    expect(last.exit, last.stderr).toBe(0);
    expect(fileBytes(join(folder, 'killed'))).toEqual(fileBytes(join(folder, 'calm')));
    const asked = askedCounts(service);
    // Else it would say nothing. What each kill loses is bounded below.
    expect(askedWhenKept.size).toBeGreaterThan(total / 2);
    for (const [first, count] of askedWhenKept) expect(asked.get(first), first).toBe(count);
    // What is asked for again was in flight when the program was killed.
    expect(service.counts().calls - total).toBeLessThanOrEqual(kills * concurrency);
  }, 300_000);
});
