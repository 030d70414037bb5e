import type { FileStore } from './file-store.ts';
import type { OpenFile } from './open-file.ts';

/**
 * Writes a file under a temporary name, syncs it and renames it: under its own name it is whole or not there. That name
 * survives a loss of power when its folder is synced.
 */
export async function writeWhole(
  files: FileStore,
  { path, temporary = `${path}.new` }: { readonly path: string; readonly temporary?: string },
  write: (file: OpenFile) => Promise<void>,
): Promise<void> {
  try {
    await writeFile(files, temporary, write);
    await files.rename(temporary, path);
  } catch (error) {
    await files.remove(temporary).catch(() => undefined);
    throw error;
  }
}

/** Writes a new file and syncs its bytes. Its name is safe when its folder is synced. */
export async function writeFile(
  files: FileStore,
  path: string,
  write: (file: OpenFile) => Promise<void>,
): Promise<void> {
  const file = await files.open(path, 'create');
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
}
