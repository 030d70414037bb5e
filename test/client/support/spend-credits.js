// A process of its own that spends credits until the ledger refuses, for tests with several at once and SIGKILLs.
// It runs the built program's ledger, so that it starts at once. Each byte on stdout is a booking that was granted.
// Arguments: state folder, day, credits a booking, limit.
import { writeSync } from 'node:fs';
import { openDiskLedger } from '../../../dist/client/credit-ledger.js';

const [stateDir = '', day = '', credits = '', limit = ''] = process.argv.slice(2);
const ledger = await openDiskLedger({ stateDir, apiKey: 'the key' });
while (await ledger.reserve({ day, credits: Number(credits), limit: Number(limit) })) writeSync(1, '.');
await ledger.close();
