import { asksAlone, dialectOf, priceSource } from '../job/job-dialect.ts';
import { availableParallelism } from 'node:os';
import { mostAtOnce } from '../client/judgement/call-limit.ts';
import { mostCalls, overrunOf } from '../client/policies/shared-pace.ts';
import type { CreditLedger } from '../client/ledger/credit-ledger.ts';
import { firstNight, hasBase } from '../job/night-names.ts';
import { type Job, jobOn, someIdsOf } from '../job/job-schema.ts';
import { type Clock, systemClock, utcDay } from '../../lib/clock.ts';
import { count, plural } from '../../lib/format-text.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import type { FreeSpace } from '../../lib/disk/on-disk.ts';
import type { ExportStart, SomeIds } from '../../places/export/export-facts.ts';
import { committedCounts } from '../../places/scratch/commit-sums.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { ExportHome } from './homes/export-home.ts';
import { type HomeContext, openHome } from './homes/open-home.ts';
import {
  type Nights,
  nightsFor,
  type PlannedBase,
  type PlanStanding,
  type FollowedNight,
  type Following,
  requireFollowable,
} from './nights.ts';
import { callsLeft, partsAfter, type Forecast, forecast } from './calls-left.ts';
import type { Entries, EntryState } from '../ids/entries.ts';
import { jobShape, requireSame } from './job-shape.ts';
import { entriesOf, type PreparedInputs } from '../ids/prepare-inputs.ts';
import { type InvalidSample, sampling, type TakenColumn } from '../ids/read/list-form.ts';
import { diskShortage, diskSpace } from './disk-estimate.ts';

/** What an export would cost from where it stands. Nothing was sent. */
export interface ExportPlan extends Forecast {
  readonly read: number;
  readonly valid: number;
  readonly invalid: number;
  readonly duplicates: number;
  /** Ids that are read at most (`ids.limit`); null for all. */
  readonly limit: SomeIds | null;
  /** Where the ids of inputs with columns are read from. */
  readonly columns: readonly TakenColumn[];
  /** The first entries that are not ids. */
  readonly invalidSamples: readonly InvalidSample[];
  /** Entries whose part is committed already. */
  readonly alreadyDone: number;
  /** Calls still to send if nothing fails. Kept answers need no call. */
  readonly calls: number;
  readonly credits: number;
  /** Calls at most, with `callsBefore` and single calls, whatever the service does; null without a limit (`budget.overrun` none). */
  readonly callsAtMost: number | null;
  /** What those cost that are not planned; null without a limit. */
  readonly overrunCredits: number | null;
  /** Of a call, and where it was read. */
  readonly price: { readonly creditsPerCall: number; readonly source: string; readonly dialect: string };
  /** Further calls at most, one an id that is missing: only with `showUnverifiedCollections` and `singles`. */
  readonly singleCallsAtMost: number;
  /** Bytes that the files will take, roughly. */
  readonly diskBytes: number;
  /** Most bytes on the local disk while it runs, roughly; and those that are free there. */
  readonly diskPeakBytes: number;
  readonly diskFreeBytes: number;
  /** Calls that this export has sent so far. */
  readonly callsSent: number;
  /** Calls, about, that are paid again when a process and its disk are lost in a bucket export; null for a folder. */
  readonly lostDiskCalls: number | null;
  /** What is requested of an export with a base, and what is taken from it. */
  readonly base: PlannedBase | null;
  /** Nights that `output.keep` removes after the run. */
  readonly removes: readonly string[];
  readonly warnings: readonly string[];
}

export interface PlanRequest extends Following, Pick<HomeContext, 'files' | 'openStore'> {
  readonly job: Job;
  /** `output.dir` as the job has it, with `{date}`; that of `job` unless given. */
  readonly outputDir?: string | undefined;
  readonly prepared: PreparedInputs;
  /** Credits booked today count against the day's budget; without a ledger none are. */
  readonly ledger?: Pick<CreditLedger, 'booked'>;
  /** The system's unless given. */
  readonly clock?: Clock;
  readonly freeSpace?: FreeSpace;
  /** Calls that the same command sends before those of this export. */
  readonly callsBefore?: number;
  /** As if nothing of the export were there. */
  readonly fresh?: boolean;
  /** For a job with a base. */
  readonly nights?: (() => Promise<Nights>) | undefined;
}

/** Reads all ids as a run would, and counts. @throws {ExportError} `usage` or `input` when the export began otherwise */
export async function planExport(request: PlanRequest): Promise<ExportPlan> {
  const { prepared, clock = systemClock, callsBefore = 0, fresh = false } = request;
  const nowMs = clock.now();
  const job = jobOn(request.job, utcDay(nowMs));
  const context = { random: Math.random, clock, ...request };
  const home = await openHome(job, context);
  const night = { job, outputDir: request.outputDir ?? request.job.output.dir };
  await requireFollowable(night, context);
  const now = { job: jobShape(job), inputs: [...prepared.fingerprints] };
  const { manifest, progress } = await standingOf(home, now, fresh);
  const commits = progress?.commits ?? [];
  const committed = manifest?.counts ?? committedCounts(commits);

  const total = { read: 0, valid: 0, invalid: 0, duplicate: 0 };
  const invalidSamples: InvalidSample[] = [];
  const counted = countStates(entriesOf(job, prepared, { onInvalid: sampling(invalidSamples) }), total);
  const left = await callsLeft(counted, job, {
    ...(manifest === undefined ? partsAfter(commits) : { isNeeded: () => false }),
    kept: fresh ? undefined : await home.readAnswers(),
  });
  const standing = { prepared, home, progress, nowMs, context };
  const { based, removes } = await nightsBeside(night, standing, manifest, request.nights);
  const first = manifest === undefined ? firstNight(job, based !== undefined) : undefined;
  const { calls, planned } = based === undefined ? left : { calls: based.calls, planned: based.calls };
  const singleCallsAtMost = asksAlone(job) ? (based?.asked ?? left.ids) : 0;
  const all = planned + callsBefore + singleCallsAtMost;
  const overrun = overrunOf(job.budget.overrun);
  const most = all === 0 ? 0 : overrun && mostCalls(all, overrun);
  const booked = (await request.ledger?.booked(utcDay(nowMs))) ?? 0;
  const { creditsPerCall } = job.budget;
  const counts = { assets: total.valid, entries: total.read, asked: based?.asked };
  const disk = await diskSpace(job, { ...counts, free: request.freeSpace });
  const shortage = calls === 0 ? undefined : diskShortage(disk);
  const warnings = based?.warnings ?? (first === undefined ? [] : [first]);
  return {
    read: total.read,
    valid: total.valid,
    invalid: total.invalid,
    duplicates: total.duplicate,
    limit: someIdsOf(job.ids) ?? null,
    columns: prepared.columns,
    invalidSamples,
    alreadyDone: committed.read,
    calls,
    credits: calls * creditsPerCall,
    price: { creditsPerCall, source: priceSource(job), dialect: dialectOf(job.service.dialect).name },
    callsAtMost: most ?? null,
    overrunCredits: most === undefined ? null : (most - all) * creditsPerCall,
    singleCallsAtMost,
    ...forecast({ calls: calls + callsBefore, job, booked, nowMs }),
    diskBytes: disk.finished,
    diskPeakBytes: disk.peak,
    diskFreeBytes: disk.free,
    lostDiskCalls: isBucketAddress(job.output.dir) ? Math.min(calls, callsInParts(job)) : null,
    callsSent: manifest?.calls ?? (progress?.spent.calls ?? 0) + (based?.sent ?? 0),
    removes,
    warnings: [...warnings, ...(shortage === undefined ? [] : [shortage]), ...beyond(calls + callsBefore, most)],
    base: based === undefined ? null : { ...based.planned, creditsForAll: left.calls * creditsPerCall },
  };
}

/** What a run would take from its base, and which nights it would remove. @param manifest of a complete export */
async function nightsBeside(
  night: FollowedNight,
  standing: PlanStanding,
  manifest: Manifest | undefined,
  open: PlanRequest['nights'],
) {
  const { job } = night;
  const isBased = manifest === undefined && hasBase(job);
  const nights = isBased || job.output.keep !== undefined ? await nightsFor(job, open) : undefined;
  const based = isBased ? await nights?.plan(job, standing) : undefined;
  const removes = await nights?.removable(night, based ?? manifest?.base, standing.context);
  return { based, removes: removes ?? [] };
}

/** How far the export is; a fresh one is nowhere. @throws {ExportError} `usage` or `input` when it began otherwise */
async function standingOf(home: ExportHome, now: Pick<ExportStart, 'job' | 'inputs'>, fresh: boolean) {
  const manifest = fresh ? undefined : await home.readManifest();
  const progress = fresh || manifest !== undefined ? undefined : await home.readProgress();
  const began = manifest ?? progress?.start;
  if (began !== undefined) requireSame(home.name, began, now);
  return { manifest, progress };
}

/** Where the service takes smaller calls than were planned, more may be left than the overrun allows. */
function beyond(calls: number, most: number | undefined): string[] {
  if (most === undefined || calls <= most) return [];
  return [
    `the service takes fewer ids per call than planned, so ${plural(calls, 'call')} are left, and the run ends with exit 10 after ${count(most)}: allow them with --overrun ${calls}`,
  ];
}

/** Calls of the parts that a process makes at a time, one a thread, and of those that run ahead. */
function callsInParts({ output, service }: Job): number {
  const threads = output.threads ?? availableParallelism();
  return threads * Math.ceil(output.rowsPerPart / service.idsPerCall) + mostAtOnce(service.concurrency);
}

async function* countStates(
  blocks: AsyncIterable<Entries>,
  total: Record<'read' | EntryState, number>,
): AsyncGenerator<Entries, void, void> {
  for await (const block of blocks) {
    for (let index = 0; index < block.length; index += 1) total[block.state(index)] += 1;
    total.read += block.length;
    yield block;
  }
}
