// A process of its own that spends credits until the ledger refuses, for tests with several at once and SIGKILLs.
// Each byte on stdout is a booking that was granted.
// Arguments: state folder, day, credits a booking, limit; `stay` after them: it lives on, with all of it in flight; `heard`: it waits
// after each tenth booking until a byte on stdin says that those were heard of.
import { writeSync } from 'node:fs';
import { openDiskLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';

const [stateDir = '', day = '', credits = '', limit = '', then = ''] = process.argv.slice(2);
const ledger = await openDiskLedger({ stateDir, apiKey: 'the key' });
const heard = process.stdin[Symbol.asyncIterator]();
for (let booked = 1; await ledger.reserve({ day, credits: Number(credits), limit: Number(limit) }); booked += 1) {
  writeSync(1, '.');
  if (then === 'heard' && booked % 10 === 0) await heard.next();
}
process.stdin.destroy();
if (then === 'stay') setInterval(() => undefined, 60_000);
else await ledger.close();
