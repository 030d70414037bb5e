import { describe, expect, it } from 'vitest';
import type { Desk } from '../../../src/pipeline/threads/offers.ts';
import { Peer, type Port } from '../../../src/pipeline/threads/peer.ts';
import { ThreadJournal } from '../../../src/pipeline/threads/thread-journal.ts';
import { openJournal } from '../../../src/store/journal.ts';
import { OwnJournals } from '../../../src/store/own-journals.ts';
import { MemoryDisk } from '../../model/memory-disk.ts';

const nobody = { postMessage: () => undefined, on: () => undefined } as unknown as Port;

const entry = (digit: string, part: number) => ({ key: digit.repeat(64), part, body: Buffer.from(`answer ${digit}`) });

describe('the journal of a thread', () => {
  it('leaves a part as it is that was written before a refusal of it was believed', async () => {
    const disk = new MemoryDisk();
    const coordinator = await openJournal(disk.files, '/out');
    const own = new OwnJournals(disk.files, '/out', coordinator.nextThread());
    const journal = new ThreadJournal(own, { desk: new Peer<Desk>(nobody, {}), hasKept: false });
    for (const digit of ['0', '1', '2']) await journal.append(entry(digit, 0));
    await journal.syncThrough(0);
    await journal.append(entry('3', 1));
    await journal.append(entry('4', 0));
    await journal.close();
    await coordinator.close();
    const resumed = await openJournal(disk.files, '/out');
    for (const digit of ['0', '1', '2', '3']) {
      expect(Buffer.from((await resumed.find(digit.repeat(64))) ?? []).toString()).toBe(`answer ${digit}`);
    }
    await resumed.close();
    expect(disk.openFiles).toBe(0);
  });
});
