import { openFinished } from '../../../src/exports/finished-export.ts';
import { recordFiles, recordsOf } from '../../../src/exports/records.ts';
import { localDisk } from '../../../src/places/files/disk.ts';

/** The records of a complete export, in their order. */
export async function readRecords(folder: string): Promise<string[]> {
  const finished = await openFinished(folder, localDisk);
  const records: string[] = [];
  for (const file of recordFiles(finished))
    for await (const piece of recordsOf(finished, file)) records.push(...piece.map((each) => JSON.stringify(each)));
  return records;
}
