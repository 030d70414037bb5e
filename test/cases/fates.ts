import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';

export interface UnexportedLine {
  readonly id: string;
  readonly outcome: string;
  readonly reason: string;
}

/** The ids that are rows of the JSONL `assets` files, and the lines of the unexported table. */
export async function fatesIn(out: string): Promise<{ exported: string[]; unexported: UnexportedLine[] }> {
  const exported = textsIn(join(out, 'jsonl/assets')).flatMap((text) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { id: string }).id),
  );
  const unexported = textsIn(join(out, 'unexported')).flatMap((text) => parse<UnexportedLine>(text, { columns: true }));
  return { exported, unexported };
}

function textsIn(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'));
}
