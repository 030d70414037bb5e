import { existsSync } from 'node:fs';

/** The folder of this package, with a slash at its end. Sources and built files lie at different depths below it. */
export const packageRoot = folderAbove(new URL('.', import.meta.url));

function folderAbove(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : folderAbove(new URL('..', folder));
}
