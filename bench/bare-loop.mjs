/**
 * The least that any program must do with the answers: fetch them, so many at once, and `JSON.parse` them.
 *
 *     node bench/bare-loop.mjs ADDRESS IDS-FILE CALLS-AT-ONCE
 *
 * Prints how many records there were.
 */
import { Agent } from 'undici';
import { callBodies, eachAtOnce } from './load/each-answer.mjs';

const [origin = '', idFile = '', lanes = '16'] = process.argv.slice(2);
const dispatcher = new Agent({ connections: Number(lanes) });
const headers = { 'content-type': 'application/json' };
let records = 0;
await eachAtOnce(callBodies(idFile), Number(lanes), async (body) => {
  const answer = await dispatcher.request({ origin, path: '/v3/key', method: 'POST', headers, body });
  const bytes = await answer.body.arrayBuffer();
  /** @type {{ result: unknown[] }} */
  const { result } = JSON.parse(Buffer.from(bytes).toString());
  records += result.length;
});
await dispatcher.close();
process.stdout.write(`${records}\n`);
