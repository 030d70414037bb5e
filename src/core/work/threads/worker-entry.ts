import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../../lib/clock.ts';
import { giveAddressesTime } from '../../../lib/network.ts';
import { localDisk } from '../../../places/files/disk.ts';
import type { ThreadSettings } from './offers.ts';
import { runThread } from './run-thread.ts';

if (parentPort === null) throw new Error('this file is the entry of a thread');
giveAddressesTime();
await runThread(parentPort, workerData as ThreadSettings, { clock: systemClock, files: localDisk });
