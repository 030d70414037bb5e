import { existsSync, readFileSync } from 'node:fs';

/** The folder of this package, with a slash at its end. Sources and built files lie at different depths below it. */
export const packageRoot = folderAbove(new URL('.', import.meta.url));

function folderAbove(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : folderAbove(new URL('..', folder));
}

/** Version of this package. */
export function programVersion(): string {
  const text = readFileSync(new URL('package.json', packageRoot), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
