/**
 * The script that people write instead: a loop that fetches a thousand ids, `JSON.parse`s the answer and appends its records to
 * a file. No checks, no budget, nothing to go on from when it dies.
 *
 *     node --import ts-blank-space/register bench/common-script.ts ADDRESS IDS-FILE OUTPUT-FILE
 *
 * Prints how many records there were.
 */
import { appendFile } from 'node:fs/promises';
import { callBodies } from './load/each-answer.ts';

const [address = '', idFile = '', output = ''] = process.argv.slice(2);
let records = 0;
for (const body of callBodies(idFile)) {
  const answer = await fetch(`${address}/v3/key`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const { result } = JSON.parse(await answer.text()) as { result: unknown[] };
  await appendFile(output, result.map((record) => `${JSON.stringify(record)}\n`).join(''));
  records += result.length;
}
process.stdout.write(`${records}\n`);
