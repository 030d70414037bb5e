import { readFileSync } from 'node:fs';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { idCharacters, idSource } from './ids.ts';

/** A record, and the id that it was made with: so many characters that others fit in its place. */
export interface PreparedRecord {
  readonly id: string;
  readonly record: string;
}

/** The records of an answer, by the number of the answer: the same ones each time. */
export type Records = (body: number) => PreparedRecord[];

/** Records of an answer. */
export const recordsPerBody = 1000;
/** Seed of the ids whose records are generated. */
const seed = 1_000_003;

/** Those of a file, a JSON object a line, again and again with other ids; without a file, generated ones. */
export function recordsOf(file: string): Records {
  return file === '' ? generatedRecords : repeatedRecords(file);
}

function generatedRecords(body: number): PreparedRecord[] {
  const records: PreparedRecord[] = [];
  for (let n = body * 2 * recordsPerBody; records.length < recordsPerBody; n += 1) {
    const id = generatedId(seed, n);
    if (id.length === idCharacters) records.push({ id, record: generatedRecord(id) });
  }
  return records;
}

function repeatedRecords(file: string): Records {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const own = lines.map((line) => (JSON.parse(line) as { id: string }).id);
  return (body) => {
    const nextId = idSource();
    return Array.from({ length: recordsPerBody }, (_, number) => {
      const at = (body * recordsPerBody + number) % lines.length;
      const id = nextId();
      return { id, record: (lines[at] ?? '').replaceAll(own[at] ?? '', id) };
    });
  };
}
