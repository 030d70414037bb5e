import { expect, it } from 'vitest';
import { hasContainers, saidBy, startInContainer } from '../../../support/container.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const program = `
  const { openDiskLedger } = await import(process.argv[1]);
  const ledger = await openDiskLedger({ stateDir: process.argv[2], apiKey: 'the key' });
  await ledger.reserve({ day: '2026-03-14', credits: 160 });
  console.log(process.pid, await ledger.booked('2026-03-14'));
  setInterval(() => undefined, 60_000);`;

// Promise, Nothing overspent: Containers whose processes have the same pid share a ledger
it.runIf(hasContainers)('a ledger is shared by containers, whose processes have the same pid', async () => {
  const ledger = new URL('../../../../dist/index.js', import.meta.url).href;
  const stateDir = await tempFolder();
  expect(await saidBy(startInContainer(program, [ledger, stateDir]))).toBe('1 160');
  expect(await saidBy(startInContainer(program, [ledger, stateDir]))).toBe('1 320');
});
