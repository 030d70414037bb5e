import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDiskLedger } from '../../src/client/credit-ledger.ts';
import { tempFolder } from '../support/temp-folder.ts';

const day = '2026-03-14';

it.each<[string, (path: string) => void]>([
  [
    'was cut',
    (path) => {
      truncateSync(path, 5000);
    },
  ],
  [
    'lost its beginning',
    (path) => {
      writeFileSync(path, readFileSync(path).fill(0, 0, 4096));
    },
  ],
  [
    'holds something else',
    (path) => {
      writeFileSync(path, 'something else\n');
    },
  ],
])('a ledger that %s is told, and nothing is booked', async (_, damage) => {
  const options = { stateDir: await tempFolder(), apiKey: 'key' };
  const before = await openDiskLedger(options);
  await before.reserve({ day, credits: 160 });
  await before.close();
  const folder = join(options.stateDir, 'ledger');
  const [name = ''] = readdirSync(folder);
  damage(join(folder, name));
  const ledger = await openDiskLedger(options);
  const refused = { exit: 'damaged', message: expect.stringContaining(name) as string };
  await expect(ledger.reserve({ day, credits: 160 })).rejects.toMatchObject(refused);
  await expect(ledger.booked(day)).rejects.toMatchObject(refused);
  expect(await ledger.reserve({ day: '2026-03-15', credits: 160 })).toBe(true);
  await ledger.close();
});

it('a ledger that is empty, as a loss of power may leave it, begins at nothing', async () => {
  const options = { stateDir: await tempFolder(), apiKey: 'key' };
  const before = await openDiskLedger(options);
  await before.reserve({ day, credits: 160 });
  await before.close();
  const folder = join(options.stateDir, 'ledger');
  for (const name of readdirSync(folder)) truncateSync(join(folder, name), 0);
  const ledger = await openDiskLedger(options);
  expect(await ledger.booked(day)).toBe(0);
  await ledger.close();
});
