import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createMemoryLedger } from '../../src/core/client/ledger/credit-ledger.ts';
import type { Job } from '../../src/core/job/job-schema.ts';
import { type LoadedJob, loadJob } from '../../src/core/job/load-job.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { exportAssets } from '../../src/core/run/export-assets.ts';
import type { ExportContext } from '../../src/core/run/export-context.ts';
import type { RunWings } from '../../src/core/run/nights.ts';
import type { ExportOutcome } from '../../src/core/run/complete-export.ts';
import type { RepairOutcome } from '../../src/wings/repair/repair-outcome.ts';
import { repairExport } from '../../src/wings/repair/repair-export.ts';
import { runWings } from '../../src/world/wings.ts';
import { exportPaths } from '../../src/places/export/export-folder.ts';
import { localDisk } from '../../src/places/files/disk.ts';

export interface ExportRun {
  /** Flags without dashes, as on the command line. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly fresh?: boolean;
  readonly context?: Partial<ExportContext & RunWings>;
  /** Makes the export, where not one run does. */
  readonly make?: MakeExport | undefined;
}

export type MakeExport = (loaded: LoadedJob, context: ExportContext) => Promise<ExportOutcome>;

/** Runs an export inside the test, with flags as the command line would give them. */
export async function runExport({ flags, fresh = false, context = {}, make }: ExportRun): Promise<ExportOutcome> {
  const loaded = loadJob({ flags, environment: {}, folder: '/' });
  const { job, idsFolder } = loaded;
  if (make !== undefined) return make(loaded, contextOf(job, context));
  return exportAssets({ job, idsFolder, fresh }, contextOf(job, context));
}

/** Repairs an export inside the test; with `pays: false` it spends nothing. */
export async function runRepair({
  flags,
  pays = true,
  context = {},
}: Pick<ExportRun, 'flags' | 'context'> & {
  readonly pays?: boolean;
}): Promise<RepairOutcome> {
  const source = loadJob({ flags, environment: {}, folder: '/' });
  const { files = localDisk, openStore } = context;
  const pay = pays ? async () => contextOf(source.job, context) : undefined;
  const effects = {
    files,
    stdin: noBytes(),
    pay,
    lake: runWings.lake,
    ...(openStore === undefined ? {} : { openStore }),
  };
  return repairExport({ folder: source.job.output.dir, source }, effects);
}

function contextOf(job: Job, context: Partial<ExportContext>): ExportContext {
  return {
    clock: systemClock,
    random: () => 0.5,
    files: localDisk,
    service: { url: job.service.url, apiKey: 'test-key' },
    proxy: undefined,
    ledger: context.ledger ?? createMemoryLedger(),
    stdin: noBytes(),
    stop: new AbortController().signal,
    abort: new AbortController().signal,
    listener: () => undefined,
    version: '0.0.0-test',
    ...runWings,
    ...context,
  };
}

export async function* noBytes(): AsyncGenerator<Uint8Array, void, void> {
  // Nothing is piped in.
}

const companions: readonly string[] = exportPaths.companions;

/**
 * The SHA-256 of every file of an export, by its path: what must not differ between two ways to make it. The history of its runs and its report may, and so
 * may the start in its manifest.
 */
export function exportBytes(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !companions.includes(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(
    files.map((file) => [file.slice(folder.length + 1), createHash('sha256').update(comparable(file)).digest('hex')]),
  );
}

/** The same without the manifest, which tells of the calls. */
export function fileBytes(folder: string): Readonly<Record<string, string>> {
  return { ...exportBytes(folder), [exportPaths.manifest]: '' };
}

function comparable(file: string): Buffer | string {
  const bytes = readFileSync(file);
  if (basename(file) !== exportPaths.manifest) return bytes;
  return bytes
    .toString()
    .replace(/"startedAtMs": \d+/, '')
    .replace(/"seal": "[0-9a-f]{64}"\s*\}\s*$/, '');
}
