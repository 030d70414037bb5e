import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMemoryLedger } from '../../src/client/memory-ledger.ts';
import type { Job } from '../../src/job/job-schema.ts';
import { loadJob } from '../../src/job/load-job.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { exportAssets } from '../../src/pipeline/export-assets.ts';
import type { ExportContext } from '../../src/pipeline/export-context.ts';
import type { ExportOutcome } from '../../src/pipeline/export-outcome.ts';
import { type RepairOutcome, repairExport } from '../../src/pipeline/repair-export.ts';
import { diskFileStore } from '../../src/store/file-store.ts';

export interface ExportRun {
  /** Flags without dashes, as on the command line. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly fresh?: boolean;
  readonly context?: Partial<ExportContext>;
}

/** Runs an export inside the test, with flags as the command line would give them. */
export async function runExport({ flags, fresh = false, context = {} }: ExportRun): Promise<ExportOutcome> {
  const { job, idsFolder } = loadJob({ flags, environment: {}, folder: '/' });
  return exportAssets({ job, idsFolder, fresh }, contextOf(job, context));
}

/** Mends an export inside the test. */
export async function runRepair({ flags, context = {} }: ExportRun): Promise<RepairOutcome> {
  const { job, idsFolder } = loadJob({ flags, environment: {}, folder: '/' });
  return repairExport({ job, idsFolder }, contextOf(job, context));
}

function contextOf(job: Job, context: Partial<ExportContext>): ExportContext {
  return {
    clock: systemClock,
    random: () => 0.5,
    files: diskFileStore,
    service: { url: job.service.url, apiKey: 'test-key' },
    proxy: undefined,
    ledger: context.ledger ?? createMemoryLedger(),
    stdin: noBytes(),
    stop: new AbortController().signal,
    abort: new AbortController().signal,
    listener: () => undefined,
    version: '0.0.0-test',
    ...context,
  };
}

async function* noBytes(): AsyncGenerator<Uint8Array, void, void> {
  // Nothing is piped in.
}

/** The SHA-256 of every file of an export, by its path: what must not differ between two ways to make it. */
export function exportBytes(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(
    files.map((file) => [file.slice(folder.length + 1), createHash('sha256').update(readFileSync(file)).digest('hex')]),
  );
}
