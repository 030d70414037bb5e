import { z } from 'zod';
import { exportPaths, pathIn } from './export-folder.ts';
import type { FileStore } from './file-store.ts';

/** What a run holds in memory for its calls, told now and then to those who ask where it stands. No promise hangs on it. */
const holdingSchema = z.object({
  bytesInFlight: z.number(),
  callsHeldBack: z.boolean(),
});

export type HoldingNote = z.infer<typeof holdingSchema>;

export async function writeHolding(files: FileStore, folder: string, note: HoldingNote): Promise<void> {
  const file = await files.open(pathIn(folder, exportPaths.holding), 'create');
  try {
    await file.write(Buffer.from(JSON.stringify(note)));
  } finally {
    await file.close();
  }
}

/** What was told last; undefined when nothing was, or just then something is. */
export async function readHolding(files: FileStore, folder: string): Promise<HoldingNote | undefined> {
  try {
    const bytes = await files.readAll(pathIn(folder, exportPaths.holding));
    return bytes && holdingSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return undefined;
  }
}
