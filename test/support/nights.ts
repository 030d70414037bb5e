import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Job } from '../../src/core/job/job-schema.ts';
import { dayMs, systemClock } from '../../src/lib/clock.ts';
import { exportAssets } from '../../src/core/run/export-assets.ts';
import type { ExportOutcome } from '../../src/core/run/complete-export.ts';
import type { Faults } from '../../packages/practice-service/src/faults/fault-schema.ts';
import { startService } from '../../src/practice-service.ts';
import type { ExportContext } from '../../src/core/run/export-context.ts';
import { runExport } from './run-export.ts';
import { tempFolder } from './temp-folder.ts';

export const firstNight = Date.UTC(2026, 10, 20, 2);

export interface Night {
  /** Days since the first one. */
  readonly day: number;
  /** Records of the service, as JSON. */
  readonly records: readonly string[];
  readonly ids: readonly string[];
  /** Where they are written to; a new file unless given. */
  readonly idFile?: string;
  readonly out: string;
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly fresh?: boolean;
  readonly context?: Partial<ExportContext>;
  readonly faults?: Faults;
  /** What the job has besides its flags. */
  readonly output?: Partial<Job['output']>;
}

/** A service with these records. */
export async function serviceWith(
  records: readonly string[],
  faults?: Faults,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const folder = await tempFolder();
  await writeFile(join(folder, 'assets.jsonl'), records.map((record) => `${record}\n`).join(''));
  const assets = [join(folder, 'assets.jsonl')];
  const service = await startService({
    assets,
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    ...(faults === undefined ? {} : { faults }),
  });
  return { url: service.url, stop: () => service.close() };
}

/** Runs an export against a service that has these records, on a day, and counts its calls. */
export async function night({
  day,
  records,
  ids,
  idFile: given,
  out,
  flags = {},
  fresh = false,
  context = {},
  faults,
  output = {},
}: Night): Promise<ExportOutcome & { readonly sent: number }> {
  const idFile = given ?? join(await tempFolder(), 'ids.txt');
  await writeFile(idFile, ids.map((id) => `${id}\n`).join(''));
  const service = await serviceWith(records, faults);
  let sent = 0;
  try {
    const outcome = await runExport({
      flags: {
        ids: idFile,
        url: service.url,
        out,
        'rows-per-part': '40',
        'ids-per-call': '20',
        concurrency: '2',
        threads: '1',
        ...flags,
      },
      make: ({ job, idsFolder }, made) =>
        exportAssets({ job: { ...job, output: { ...job.output, ...output } }, idsFolder, fresh }, made),
      context: {
        ...context,
        clock: { ...(context.clock ?? systemClock), now: () => firstNight + day * dayMs },
        listener: (event) => {
          context.listener?.(event);
          if (event.kind === 'sent') sent += 1;
        },
      },
    });
    return { ...outcome, sent };
  } finally {
    await service.stop();
  }
}
