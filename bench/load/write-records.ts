import { closeSync, openSync, writeSync } from 'node:fs';
import { idSource } from './ids.ts';
import type { Records } from './records.ts';

/** Writes so many records of the first bodies, one a line, each with an id of its own. */
export function writeRecords(
  file: string,
  count: number,
  { bodies, records }: { bodies: number; records: Records },
): void {
  const prepared = Array.from({ length: bodies }, (_, body) => records(body));
  const nextId = idSource();
  const output = openSync(file, 'w');
  for (let done = 0, turn = 0; done < count; turn += 1) {
    const some = (prepared[turn % bodies] ?? []).slice(0, count - done);
    writeSync(output, some.map(({ id, record }) => `${record.replaceAll(id, nextId())}\n`).join(''));
    done += some.length;
  }
  closeSync(output);
}
