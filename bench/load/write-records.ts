import { closeSync, openSync, writeSync } from 'node:fs';
import { preparedRecords } from './prepared-answers.ts';
import { idSource } from './ids.ts';

/** Writes so many records of the load server's kind, one a line, each with an id of its own. */
export function writeRecords(file: string, count: number, bodies: number): void {
  const prepared = Array.from({ length: bodies }, (_, body) => preparedRecords(body));
  const nextId = idSource();
  const output = openSync(file, 'w');
  for (let done = 0, turn = 0; done < count; turn += 1) {
    const records = (prepared[turn % bodies] ?? []).slice(0, count - done);
    writeSync(output, records.map(({ id, record }) => `${record.replaceAll(id, nextId())}\n`).join(''));
    done += records.length;
  }
  closeSync(output);
}
