import type { IdInput } from '../../ids/id-input.ts';
import { findInputs, aboutEntries, bytesOfInput, firstEntries } from '../../ids/prepare-inputs.ts';
import type { LoadedJob } from '../../job/load-job.ts';
import { count, plural } from '../../../lib/format-text.ts';
import { localDisk } from '../../../places/files/disk.ts';
import { type HomeContext, bucketIds } from '../homes/open-home.ts';
import { intolerableIds } from '../tolerance.ts';
import type { TakenColumn } from '../../ids/read/list-form.ts';
import type { Fact } from './fact.ts';

export interface CheckedIds extends Fact {
  /** Undefined where some come from stdin, which the run alone reads. */
  readonly inputs: readonly IdInput[] | undefined;
  /** The ids that were read. */
  readonly firstIds: readonly string[];
  /** Whether these are all. */
  readonly isAll: boolean;
  readonly columns: readonly TakenColumn[];
  /** Entries of all files, about. */
  readonly inAll: number;
}

interface Sums {
  entries: number;
  ids: string[];
  inAll: number;
  isWhole: boolean;
}

/**
 * Reads the first entries of each file of ids.
 * @param folder for copies of what cannot be read in its bucket
 * @throws {ExportError} `input`; `notTolerated` where these are all and a run would not end with 0
 */
export async function checkIds(
  { job, idsFolder, outputDir }: LoadedJob,
  { folder, context }: { readonly folder: string; readonly context: Omit<HomeContext, 'files'> },
): Promise<CheckedIds> {
  const from = job.ids.from.filter((name) => name !== '-');
  const hasStdin = from.length < job.ids.from.length;
  const warnings = hasStdin ? ['ids from stdin are read by the run alone'] : [];
  if (from.length === 0)
    return { fact: 'not read', warnings, inputs: undefined, firstIds: [], isAll: false, columns: [], inAll: 0 };
  const { inputs, columns } = await findInputs({
    job: { ...job, ids: { ...job.ids, from } },
    idsFolder,
    outputDir,
    folder,
    files: localDisk,
    stdin: process.stdin,
    streams: true,
    findRemote: bucketIds(job, context),
    onNote: (note) => warnings.push(note),
  });
  const sums: Sums = { entries: 0, ids: [], inAll: 0, isWhole: true };
  for (const input of inputs) {
    const first = await firstEntries(input, job.ids);
    sums.entries += first.entries;
    sums.ids.push(...first.ids);
    sums.inAll += aboutEntries(input, await bytesOfInput(input));
    sums.isWhole &&= input.looked?.isWhole === true && input.looked.entries <= first.entries;
  }
  const { entries, ids, inAll } = sums;
  const bad = entries - ids.length;
  const isAll = sums.isWhole && !hasStdin && job.ids.limit === undefined;
  const error = isAll ? intolerableIds({ read: entries, invalid: bad, duplicates: 0 }, job) : undefined;
  if (error !== undefined) throw error;
  if (bad > 0)
    warnings.unshift(`${count(bad)} of the ${count(entries)} entries ${bad === 1 ? 'is no id' : 'are no ids'}`);
  const about = Math.min(inAll, job.ids.limit ?? inAll);
  const lists = hasStdin ? undefined : inputs;
  return { fact: factOf(inputs.length, sums), warnings, inputs: lists, firstIds: ids, isAll, columns, inAll: about };
}

function factOf(files: number, { entries, ids, isWhole }: Sums): string {
  const found = entries === ids.length ? 'are ids' : 'were read';
  if (isWhole) return `${plural(files, 'file')}, all ${count(entries)} entries ${found}`;
  return `${plural(files, 'file')}, first 1,000 entries${files === 1 ? '' : ' of each'} ${found}`;
}
