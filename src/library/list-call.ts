import { resolve } from 'node:path';
import { createMemoryLedger } from '../core/client/ledger/credit-ledger.ts';
import { listFilters } from '../core/client/dialects.ts';
import { requireAddress } from '../lib/addresses/address.ts';
import { thenCleanUp } from '../lib/end-work.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import type { ExportError } from '../lib/export-error.ts';
import { programVersion } from '../lib/packages/package-root.ts';
import { localDisk } from '../places/files/disk.ts';
import type { HoldersRequest, HoldersSummary, ListAccount, ListEvent, WantedList } from '../wings/listing/index.ts';
import { contextOf, never, serviceOf, byMember, inCall } from './calls.ts';
import { jobIn, jobMembers, type JobOptions, requireMembers } from './options.ts';

/** A list of ids, as the command `ids` makes it. `job.service.dialect` says how the service is spoken to. */
export interface ListOptions
  extends Omit<JobOptions, 'ids' | 'out' | 'formats' | 'tables'>,
    Omit<WantedList, 'out' | 'records' | 'fresh'> {
  /** The file of the list; `.gz` and `.zst` compress. */
  readonly out: string;
  /** A folder that keeps the records of all pages as an export. */
  readonly records?: string;
  /** Throw away what an earlier call left. */
  readonly fresh?: boolean;
  readonly stop?: AbortSignal;
  readonly onEvent?: (event: ListEvent) => void;
}

/** How a list ended. */
export interface ListResult {
  /** Where it is; `FILE.unproven` where it is not proven. */
  readonly path: string;
  readonly account: ListAccount;
  /** The exit code of the command. */
  readonly exitCode: number;
  /** Why that is not 0. */
  readonly error?: ExportError;
}

const members = [
  ...listFilters,
  ...['unverified', 'onlyVerified', 'out', 'records', 'expect', 'proofCalls', 'limit', 'fresh', 'stop', 'onEvent'],
  ...jobMembers,
];

/** Lists ids, and proves that they are all; the same call resumes. @throws {ExportError} what stopped it */
export async function listInOneCall(options: ListOptions): Promise<ListResult> {
  requireMembers(options, members);
  return inCall(() => listOnce(options), members);
}

async function listOnce(options: ListOptions): Promise<ListResult> {
  const { cwd = process.cwd(), world = {}, ...wanted } = options;
  const { job } = jobIn({ ...wanted, cwd, ids: '-', out: '.' });
  const { listIds, requestedList } = await import('../wings/listing/index.ts');
  const { onEvent = () => undefined, stop = never, fresh = false, records } = wanted;
  const request = requestedList(
    {
      ...wanted,
      fresh,
      out: resolve(cwd, requireAddress(wanted.out, 'list', 'out')),
      records: records === undefined ? undefined : resolve(cwd, requireAddress(records, 'changes', 'records')),
    },
    job,
  );
  const tell = (message: string): void => {
    onEvent({ kind: 'warning', message });
  };
  const open = await serviceOf(job, options, tell, async () => createMemoryLedger());
  open.warnings?.forEach(tell);
  const { path, account, error } = await thenCleanUp({
    work: () =>
      listIds(request, {
        files: localDisk,
        ...contextOf(world, open),
        version: programVersion(),
        stop,
        abort: never,
        listener: () => undefined,
        onEvent,
      }),
    cleanUp: [() => open.close()],
  });
  byMember(error, members);
  const exitCode = error?.exitCode ?? exitCodes.complete.code;
  return { path, account, exitCode, ...(error === undefined ? {} : { error }) };
}

export interface HoldersOptions extends Partial<Pick<HoldersRequest, 'format' | 'assets'>> {
  /** A complete export: a folder, for example the `records` of a list. */
  readonly of: string;
  /** The file. */
  readonly out: string;
}

/** Counts the assets of each owner of an export, as `holders --of` does. @throws {ExportError} `usage`, `input`, `damaged` */
export async function holdersInOneCall({
  of,
  out,
  format = 'csv',
  assets = false,
}: HoldersOptions): Promise<HoldersSummary> {
  const { writeHolders } = await import('../wings/listing/index.ts');
  const { openFinished } = await import('../exports/finished-export.ts');
  const [files, path] = [localDisk, resolve(requireAddress(out, 'list', 'out'))];
  const scratch = `${path}.holders`;
  const finished = await openFinished(resolve(requireAddress(of, 'export', 'of')));
  try {
    return await writeHolders({ finished, files, out: path, scratch, format, assets });
  } finally {
    await files.remove(scratch);
  }
}
