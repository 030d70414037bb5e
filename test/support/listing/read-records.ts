import { openFinished } from '../../../src/exports/finished-export.ts';
import { recordFiles, recordsOf } from '../../../src/exports/records.ts';
import { diskFileStore } from '../../../src/places/files/file-store.ts';

/** The records of a complete export, in their order. */
export async function readRecords(folder: string): Promise<string[]> {
  const finished = await openFinished(folder, diskFileStore);
  const records: string[] = [];
  for (const file of recordFiles(finished))
    for await (const piece of recordsOf(finished, file)) records.push(...piece.map((each) => JSON.stringify(each)));
  return records;
}
