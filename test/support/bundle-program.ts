import { copyFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll } from 'vitest';
import { keptFolder } from './temp-folder.ts';

/** Bundles a program of a test with the sources that it imports: a process of its own then starts at once. Resolves to its path. */
export async function bundleProgram(source: URL): Promise<string> {
  const folder = await keptFolder();
  afterAll(folder.remove);
  const file = join(folder.path, 'program.mjs');
  const bundle = await rolldown({ input: fileURLToPath(source), platform: 'node', external: (id) => isBuiltin(id) });
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  await bundle.close();
  await copyFile(new URL('../../dist/kernel.wasm', import.meta.url), join(folder.path, 'kernel.wasm'));
  return file;
}
