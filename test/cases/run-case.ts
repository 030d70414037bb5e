import { appendFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CreditLedger, openDiskLedger, readLedgers } from '../../src/core/client/ledger/credit-ledger.ts';
import { loadJob } from '../../src/core/job/load-job.ts';
import type { Job } from '../../src/core/job/job-schema.ts';
import { exitCodes } from '../../src/lib/exit-codes.ts';
import { ExportError } from '../../src/lib/export-error.ts';
import { exportAssets } from '../../src/core/run/export-assets.ts';
import type { ExportOutcome } from '../../src/core/run/complete-export.ts';
import type { RunEvent } from '../../src/core/work/run-events.ts';
import { intolerable } from '../../src/core/run/tolerance.ts';
import { loadFaults, type ServiceOptions, startService } from '../../src/practice-service.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { canaryKey } from './canary.ts';
import { type HurriedClock, createHurriedClock } from '../support/hurried-clock.ts';
import { type CaseFolder, type CaseRun, casesFolder } from './case-folder.ts';

/** How one run of a case ended. */
export interface RanCase {
  readonly expected: CaseRun;
  readonly exitCode: number;
  /** Absent when the export could not be opened. */
  readonly outcome: ExportOutcome | undefined;
  readonly error: ExportError | undefined;
  readonly job: Job | undefined;
  readonly events: readonly RunEvent[];
  /** HTTP exchanges of this run, and the credits that were charged for it. */
  readonly calls: number;
  readonly charged: number;
  /** Credits in the ledger by day, after this run. */
  readonly booked: ReadonlyMap<string, number>;
}

export interface CaseOptions {
  /** A fresh folder: all that the case leaves is in it. */
  readonly work: string;
  /** Records of the shared ids. */
  readonly assets: string;
  /** Leave the faults away, and run once. */
  readonly calm?: boolean;
}

/** Runs a case in a copy of its folder. The export is in `out` there, the ledger in `state`. */
export async function runCase(folder: CaseFolder, options: CaseOptions): Promise<RanCase[]> {
  const { work, calm = false } = options;
  for (const name of ['job.yaml', 'ids.txt']) cpSync(join(casesFolder, name), join(work, name));
  cpSync(folder.path, work, { recursive: true });
  mkdirSync(join(work, 'state'));
  writeFileSync(join(work, 'key'), canaryKey);
  const runs = calm ? [{ exit: 'complete' as const, flags: noLimits }] : folder.expected.runs;
  const ledger = await openDiskLedger({ stateDir: join(work, 'state'), apiKey: canaryKey });
  const clock = createHurriedClock();
  const ran: RanCase[] = [];
  try {
    for (const expected of runs) ran.push(await runOnce({ folder, expected, clock, ledger, ...options }));
  } finally {
    await ledger.close();
  }
  return ran;
}

/** What a run without faults is not held back by. */
const noLimits = { 'credits-per-run': 1_000_000, 'credits-per-day': 1_000_000, 'max-missing': '100%' };

interface OneRun extends CaseOptions {
  readonly folder: CaseFolder;
  readonly expected: CaseRun;
  readonly clock: HurriedClock;
  readonly ledger: CreditLedger;
}

async function runOnce(run: OneRun): Promise<RanCase> {
  const { work, expected, clock, ledger, folder } = run;
  clock.skipHours(expected.hoursLater ?? 0);
  for (const [name, text] of Object.entries(expected.append ?? {})) appendFileSync(join(work, name), text);
  for (const [name, text] of Object.entries(expected.write ?? {})) writeFileSync(join(work, name), text);
  const service = await startService(await serviceOptions(run));
  const events: RunEvent[] = [];
  const ended: { outcome?: ExportOutcome; error?: ExportError; job?: Job } = {};
  try {
    const flags = textFlags({ ...folder.expected.flags, ...expected.flags });
    const environment = { URL: folder.expected.service?.url ?? service.url, OUT: join(work, 'out') };
    const { job, idsFolder } = loadJob({ file: 'job.yaml', folder: work, flags, environment });
    ended.job = job;
    clock.sleepFor(job.service.timeoutMs);
    ended.outcome = await exportAssets(
      { job, idsFolder, fresh: expected.fresh ?? false },
      {
        clock,
        random: () => 0.5,
        files: localDisk,
        service: { url: job.service.url, apiKey: canaryKey },
        proxy: undefined,
        ledger,
        stdin: noBytes(),
        stop: new AbortController().signal,
        abort: new AbortController().signal,
        listener: (event) => events.push(event),
        version: '0.0.0-test',
      },
    );
    const error = ended.outcome.error ?? intolerable(ended.outcome.account, job);
    if (error !== undefined) ended.error = error;
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    ended.error = error;
  } finally {
    await service.close();
  }
  const { exchanges, credits } = service.counts();
  return {
    expected,
    exitCode: ended.error?.exitCode ?? exitCodes.complete.code,
    outcome: ended.outcome,
    error: ended.error,
    job: ended.job,
    events,
    calls: exchanges,
    charged: credits,
    booked: await bookedDays(work),
  };
}

async function serviceOptions({ folder, expected, work, clock, assets, calm }: OneRun): Promise<ServiceOptions> {
  const own = join(work, 'assets.jsonl');
  const { otherKey = false, creditsPerDay, creditsPerSecond, maxIds } = calm ? {} : (folder.expected.service ?? {});
  const name = expected.faults ?? 'faults.yaml';
  const faults = calm === true || name === 'none' || !existsSync(join(work, name)) ? undefined : join(work, name);
  return {
    assets: [existsSync(own) ? own : assets],
    host: '127.0.0.1',
    port: 0,
    apiKeys: [otherKey ? 'another key' : canaryKey],
    clock: clock.service,
    ...(creditsPerDay === undefined ? {} : { creditsPerDay }),
    ...(creditsPerSecond === undefined ? {} : { creditsPerSecond }),
    ...(maxIds === undefined ? {} : { maxIds }),
    ...(faults === undefined ? {} : { faults: await loadFaults(faults) }),
  };
}

function textFlags(flags: Readonly<Record<string, string | number | boolean>>): Record<string, string | boolean> {
  return Object.fromEntries(
    Object.entries(flags).map(([name, value]) => [name, typeof value === 'boolean' ? value : String(value)]),
  );
}

async function bookedDays(work: string): Promise<Map<string, number>> {
  const days = await readLedgers({ stateDir: join(work, 'state'), apiKey: canaryKey });
  return new Map(days.map(({ day, credits }) => [day, credits]));
}

async function* noBytes(): AsyncGenerator<Uint8Array, void, void> {
  // Nothing is piped in.
}
