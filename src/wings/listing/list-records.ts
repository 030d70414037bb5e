import { basename } from 'node:path';
import type { AssetAnswer, AssetCall, AssetClient } from '../../core/client/asset-client.ts';
import { requestId } from '../../core/client/wire/call-body.ts';
import { parseAnswer } from '../../core/client/wire/parse-answer.ts';
import { prepareInputs, type PreparedInputs } from '../../core/ids/prepare-inputs.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { manifestOf, type ExportOutcome } from '../../core/run/complete-export.ts';
import { makeAndComplete, type Run } from '../../core/run/export-slices.ts';
import { completeBefore, withLockedHome } from '../../core/run/homes/home-lock.ts';
import { openHome } from '../../core/run/homes/open-home.ts';
import { jobOfNothing, jobShape, listShape } from '../../core/run/job-shape.ts';
import { followRun } from '../../core/run/follow-run.ts';
import { newReadProgress, readJobIds } from '../../core/work/read-job-ids.ts';
import { idOfBytes, keyBytes } from '../../lib/ids/asset-id.ts';
import type { ListContext, ListIdsRequest } from './list-request.ts';
import type { ListMember, Members } from './members.ts';
import type { KeptPage, PageJournal } from './page-journal.ts';

/** A proven list whose records become an export. */
export interface RecordsToKeep {
  readonly request: ListIdsRequest & { readonly records: string };
  /** The list, under the name of `request.out` in another folder. */
  readonly list: string;
  readonly members: Members;
  readonly journal: PageJournal;
  /** Of the first call. */
  readonly startedAtMs: number;
  readonly calls: number;
  readonly credits: number;
}

/** Makes the export of a list: an ordinary one in raw. Nothing is requested: its answers are the pages. */
export async function exportRecords(keeping: RecordsToKeep, given: ListContext): Promise<void> {
  const job = jobOfRecords(keeping);
  const startedAtMs = given.clock.now();
  const context = { ...given, stdin: nothing(), listener: () => undefined };
  const outcome = await followRun({ ...context, job, startedAtMs }, async (observed) => {
    const home = await openHome(job, context);
    await home.requireOwn();
    return withLockedHome(home, context, () => exportHeld(keeping, { job, home, context: observed }));
  });
  if (outcome.error !== undefined) throw outcome.error;
}

async function* nothing(): AsyncGenerator<never, void, void> {}

function jobOfRecords({ request, list }: RecordsToKeep): Job {
  const job = jobOfNothing(request.records);
  return {
    ...job,
    ids: { ...job.ids, from: [list], format: 'lines' },
    service: { ...job.service, flags: { ...request.query.flags } },
    output: { ...job.output, formats: ['raw'], keepIds: false },
    // What has only an error is a member of the list all the same.
    tolerance: { ...job.tolerance, maxMissing: '100%', maxFailed: '100%', allowNone: true },
  };
}

async function exportHeld(
  { request, members, journal, startedAtMs, calls, credits }: RecordsToKeep,
  run: Run,
): Promise<ExportOutcome> {
  const { job, home, context } = run;
  const { files, stdin, stop } = context;
  const folder = home.scratch;
  const prepared = named(await prepareInputs({ job, idsFolder: folder, files, stdin, stop, folder }), request.out);
  if (request.fresh || (await home.isThrowingAway())) await home.throwAway({ inputs: [], stop });
  const { filter, address } = request.query;
  const shape = { ...jobShape(job), ...listShape(filter, address) };
  const start = { job: shape, inputs: [...prepared.fingerprints], startedAtMs };
  const finished = await completeBefore(home, start, job.tolerance);
  if (finished !== undefined) return finished;
  const progress = newReadProgress();
  const entries = () => readJobIds(job, prepared, progress, context.listener);
  const open = await home.open(start, entries);
  const local = { client: new PageAnswers(members, journal), originsOf: () => undefined, tail: noRows };
  return makeAndComplete(run, {
    inputs: prepared,
    open,
    progress,
    answers: {
      open: async () => ({ local, close: () => Promise.resolve() }),
      spent: () => ({ calls, credits }),
      explained: (error) => Promise.resolve(error),
    },
    whenLost: 'end',
    complete: () => {
      const { version } = context;
      const manifest = manifestOf({ job, start: open.start, commits: open.commits(), calls, credits, version });
      return home.putManifest({ ...manifest, kind: 'list', startedAtMs });
    },
  });
}

async function* noRows(): AsyncGenerator<never, void, void> {}

/** The list is read before it has its name. */
function named(prepared: PreparedInputs, out: string): PreparedInputs {
  const name = basename(out);
  return {
    ...prepared,
    inputs: prepared.inputs.map((input) => ({ ...input, name })),
    fingerprints: prepared.fingerprints.map((each) => ({ ...each, name })),
  };
}

/** Answers calls for ids from the pages, in the order of the list. */
class PageAnswers implements AssetClient {
  readonly #members: Iterator<ListMember>;
  readonly #journal: PageJournal;
  #turn: Promise<unknown> = Promise.resolve();
  #page: { readonly kept: KeptPage; readonly records: Uint8Array; next: number; at: number } | undefined;

  constructor(members: Members, journal: PageJournal) {
    this.#members = members.inOrder();
    this.#journal = journal;
  }

  /** One call after another: each goes on where the one before stopped. */
  ask(call: AssetCall): Promise<AssetAnswer> {
    const answer = this.#turn.then(() => this.#answer(call));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  async #answer(call: AssetCall): Promise<AssetAnswer> {
    const records: Uint8Array[] = [];
    const errors: { id: string; notFound: boolean; message: string }[] = [];
    for (const id of call.ids) {
      const { kept, at } = this.#memberOf(id);
      const record = await this.#recordOf(kept, at);
      if (record !== undefined) records.push(record);
      const error = kept.errors.find((each) => each.at === at);
      // A list has it: whatever the service says of it, it is not missing.
      if (error !== undefined) errors.push({ id, notFound: false, message: error.message });
    }
    const answer = parseAnswer(answerBody(call, records), call);
    if (answer.kind !== 'records') throw new Error('records are no error');
    return { ...answer, errors };
  }

  /** Ids are asked for in their order; those of finished parts are left out. */
  #memberOf(id: string): ListMember {
    for (;;) {
      const next = this.#members.next();
      if (next.done === true) throw new Error(`${id} is not in the list`);
      const { kept, at } = next.value;
      if (idOfBytes(kept.page.keys, at * keyBytes) === id) return { kept, at };
    }
  }

  /** Members of a page come one behind the other, where pages do not overlap. */
  async #recordOf(kept: KeptPage, at: number): Promise<Uint8Array | undefined> {
    if (this.#page?.kept !== kept) this.#page = { kept, records: await this.#journal.recordsOf(kept), next: 0, at: 0 };
    const page = this.#page;
    const lengths = kept.records?.lengths ?? new Uint32Array();
    if (at < page.at) Object.assign(page, { next: 0, at: 0 });
    for (; page.at < at; page.at += 1) page.next += lengths[page.at] ?? 0;
    const length = lengths[at] ?? 0;
    return length === 0 ? undefined : page.records.subarray(page.next, page.next + length);
  }
}

function answerBody(call: AssetCall, records: readonly Uint8Array[]): Uint8Array {
  const pieces: Uint8Array[] = [Buffer.from(`{"jsonrpc":"2.0","id":${requestId(call)},"result":[`)];
  for (const [index, record] of records.entries()) {
    if (index > 0) pieces.push(comma);
    pieces.push(record);
  }
  return Buffer.concat([...pieces, Buffer.from(']}')]);
}

const comma = Buffer.from(',');
