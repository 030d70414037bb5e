// A process of its own that takes locks. Each line on stdin names a folder; the answer on stdout is `won` or what was said
// to the one who lost. A lock that was won is kept until the next line.
import { createInterface } from 'node:readline';
import { ExportError } from '../../../src/lib/export-error.ts';
import { type Lock, takeLock } from '../../../src/places/files/lock.ts';

let held: Lock | undefined;
for await (const folder of createInterface({ input: process.stdin })) {
  await held?.release();
  held = undefined;
  if (folder === '') continue;
  try {
    held = await takeLock(folder);
    process.stdout.write('won\n');
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    process.stdout.write(`${error.exit} ${String(error.facts['pid'])}\n`);
  }
}
