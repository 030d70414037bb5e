/**
 * Makes the sample data: `npm run data`, or into another folder with `npm run data -- FOLDER`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sampleFiles } from './sample-files.ts';

const folder = process.argv[2] ?? fileURLToPath(new URL('.', import.meta.url));
await mkdir(folder, { recursive: true });
for (const [name, bytes] of sampleFiles()) await writeFile(join(folder, name), bytes);
