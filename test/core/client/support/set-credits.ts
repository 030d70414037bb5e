// A process of its own that sets a day to 1000 and 5000 credits in turn, until it is killed.
// A byte on stdout says that it has begun. Arguments: state folder, day.
import { writeSync } from 'node:fs';
import { openDiskLedger } from '../../../../src/core/client/ledger/credit-ledger.ts';

const [stateDir = '', day = ''] = process.argv.slice(2);
const ledger = await openDiskLedger({ stateDir, apiKey: 'the key' });
await ledger.set({ day, credits: 1000 });
writeSync(1, '.');
for (;;) {
  await ledger.set({ day, credits: 5000 });
  await ledger.set({ day, credits: 1000 });
}
