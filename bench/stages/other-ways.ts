import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';
import { cellsOf, writeWithLibrary } from './csv-library.ts';
import { nodesFetchStage } from './fetch-stages.ts';
import type { Exchange } from './prepared.ts';
import type { Stage } from './stage.ts';

interface Answer {
  readonly result: readonly { readonly id: string }[];
}

const loose = z.looseObject({ id: z.string() });
const gzipFast = promisify(gzip);

/** What might stand in a stage's place, or is often thought to cost little. */
export function otherWays(exchanges: readonly Exchange[], { url, folder }: { url: string; folder: string }): Stage[] {
  const bodies = exchanges.map(({ body }) => Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  const parsed = bodies.map((body) => JSON.parse(body.toString()) as Answer);
  const records = parsed.flatMap(({ result }) => result);
  const lines = records.map((record) => `${JSON.stringify(record)}\n`);
  const rows = records.map(cellsOf);
  const file = join(folder, 'rows');
  const all = <T>(items: readonly T[], work: (item: T) => unknown) => {
    return () => {
      for (const item of items) work(item);
    };
  };
  return [
    nodesFetchStage(exchanges, url),
    { name: 'JSON.parse of whole bodies', kind: 'instead', run: all(bodies, (body) => JSON.parse(body.toString())) },
    { name: 'decoding bodies to strings alone', kind: 'instead', run: all(bodies, (body) => body.toString()) },
    { name: 'JSON.stringify of records', kind: 'instead', run: all(records, (record) => JSON.stringify(record)) },
    { name: 'zod, a loose object with an id', kind: 'instead', run: all(records, (record) => loose.safeParse(record)) },
    { name: 'structuredClone of answers', kind: 'instead', run: all(parsed, (answer) => structuredClone(answer)) },
    {
      name: 'gzip -1 of bodies',
      kind: 'instead',
      run: () => Promise.all(bodies.map((body) => gzipFast(body, { level: 1 }))),
    },
    { name: 'csv-stringify of the same cells', kind: 'instead', run: () => writeWithLibrary(rows) },
    {
      name: 'a write a row',
      kind: 'instead',
      run: () => {
        writeFileSync(file, '');
        for (const line of lines) appendFileSync(file, line);
        rmSync(file);
      },
    },
  ];
}
