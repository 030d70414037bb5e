/**
 * The script that people write instead: a loop that fetches a thousand ids, `JSON.parse`s the answer and appends its records to
 * a file. No checks, no budget, nothing to go on from when it dies.
 *
 *     node bench/common-script.mjs ADDRESS IDS-FILE OUTPUT-FILE
 *
 * Prints how many records there were.
 */
import { appendFile } from 'node:fs/promises';
import { callBodies } from './load/each-answer.mjs';

const [address = '', idFile = '', output = ''] = process.argv.slice(2);
let records = 0;
for (const body of callBodies(idFile)) {
  const answer = await fetch(`${address}/v3/key`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  /** @type {{ result: unknown[] }} */
  const { result } = JSON.parse(await answer.text());
  await appendFile(output, result.map((record) => `${JSON.stringify(record)}\n`).join(''));
  records += result.length;
}
process.stdout.write(`${records}\n`);
