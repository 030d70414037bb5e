import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AssetAnswer, type AssetCall, AttemptError } from '../../src/core/client/asset-client.ts';
import { prepareInputs } from '../../src/core/ids/prepare-inputs.ts';
import { loadJob } from '../../src/core/job/load-job.ts';
import type { ExportError } from '../../src/lib/export-error.ts';
import { planExport } from '../../src/core/run/plan-export.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { recordsOf } from '../core/client/support/calls.ts';
import { createHurriedClock } from './hurried-clock.ts';
import { writeIdFile } from './id-file.ts';
import { MemoryBuckets } from './memory-buckets.ts';
import { type ExportRun, runExport } from './run-export.ts';
import { tempFolder } from './temp-folder.ts';

export type AnswerOfTest = (call: AssetCall, attempt: number) => AssetAnswer | AttemptError | ExportError;

export const unavailable = new AttemptError('transport', 'HTTP 503', { status: 503 });

/** Exports of 200 ids in 20 calls, or of so many, from a service of the test. */
export async function twentyCalls(answer: AnswerOfTest, entries = 200) {
  const folder = await tempFolder();
  const ids = join(folder, 'ids.txt');
  await writeIdFile(ids, { entries });
  const buckets = new MemoryBuckets();
  const clock = createHurriedClock();
  /** Attempts of each call, by its first id and its size. */
  const attempts = new Map<string, number>();
  let sent = 0;
  const openWire = () => ({
    ask: async (call: AssetCall) => {
      sent += 1;
      // An answer takes longer than reading the journal.
      await delay(3);
      const name = `${call.ids.first ?? ''} ${call.ids.length}`;
      attempts.set(name, (attempts.get(name) ?? 0) + 1);
      const brought = answer(call, attempts.get(name) ?? 0);
      if (brought instanceof Error) throw brought;
      return brought;
    },
    close: () => Promise.resolve(),
  });
  const flags = {
    ids,
    out: join(folder, 'out'),
    url: 'http://127.0.0.1:9',
    format: 'csv',
    'ids-per-call': '10',
    'rows-per-part': '40',
    concurrency: '4',
    threads: '1',
  };
  const run = ({ flags: more, context, ...rest }: Partial<ExportRun> = {}) =>
    runExport({
      flags: { ...flags, ...more },
      context: { clock, openWire, openStore: (request) => buckets.openStore(request), ...context },
      ...rest,
    });
  const planned = async (more: Readonly<Record<string, string>> = {}) => {
    const { job, idsFolder } = loadJob({ flags: { ...flags, ...more }, environment: {}, folder: '/' });
    const files = localDisk;
    const stdin = (async function* () {
      // Nothing is piped in.
    })();
    return planExport({ job, prepared: await prepareInputs({ job, idsFolder, files, stdin, folder }), files });
  };
  return { folder, flags, run, planned, clock, openWire, sent: () => sent };
}

/** Each call fails once. */
export const flaky: AnswerOfTest = (call, attempt) => (attempt === 1 ? unavailable : recordsOf(call));
export const good: AnswerOfTest = (call) => recordsOf(call);
