import { factsOfFile } from '../../../places/export/part-bytes.ts';
import { type ObjectStore, namesOf } from '../../../places/objects/object-store.ts';
import { sliceNames } from '../../../places/log/slice-log.ts';
import { exportPaths, journalPart, pathIn } from '../../../places/export/export-folder.ts';
import type { PartsContext } from '../../work/parts-context.ts';
import { readEntries, type Journal, openJournal } from '../../../places/scratch/journal.ts';

/** The answers of a slice that are in no committed part. */
export interface SliceAnswers extends Pick<PartsContext, 'files'> {
  readonly store: ObjectStore;
  /** The slice's scratch folder, and its id. */
  readonly folder: string;
  readonly scratch: string;
  readonly slice: number;
  readonly isCommitted: (part: number) => boolean;
}

/** Puts the answers that lie on this disk into the bucket: a process elsewhere may resume. */
export async function keepAnswers({ files, store, folder, slice, scratch, isCommitted }: SliceAnswers): Promise<void> {
  for (const name of await files.list(pathIn(folder, exportPaths.journals))) {
    const part = journalPart(name);
    if (part === undefined || isCommitted(part)) continue;
    const file = pathIn(folder, exportPaths.journal(part));
    const facts = await factsOfFile(files, file);
    if (facts.bytes > 0) await store.put(`${sliceNames.answers(slice, scratch)}${name}`, { file, ...facts });
  }
}

/** Takes the answers that processes elsewhere left into the journals of this disk. */
export async function fetchAnswers(answers: SliceAnswers): Promise<void> {
  const { files, store, folder, slice, scratch, isCommitted } = answers;
  const names = (await namesOf(store, sliceNames.answers(slice))).filter((name) => {
    const part = journalPart(name.slice(name.lastIndexOf('/') + 1));
    return part !== undefined && !isCommitted(part) && !name.startsWith(sliceNames.answers(slice, scratch));
  });
  if (names.length === 0) return;
  const journal = await openJournal(files, folder);
  try {
    for (const name of names) await fetchJournal(answers, name, journal);
  } finally {
    await journal.close();
  }
}

async function fetchJournal({ files, store, folder }: SliceAnswers, name: string, journal: Journal): Promise<void> {
  const part = journalPart(name.slice(name.lastIndexOf('/') + 1)) ?? 0;
  const path = pathIn(folder, `${exportPaths.run}/fetched`);
  const file = await files.open(path, 'create');
  try {
    for await (const block of store.read(name)) await file.write(block);
    for await (const { key, position, length } of readEntries(file)) {
      if ((await journal.find(key, part)) !== undefined) continue;
      await journal.append({ key, part, body: await file.read(position, length) });
    }
  } finally {
    await file.close();
  }
  await files.remove(path);
}
