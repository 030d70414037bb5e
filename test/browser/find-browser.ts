import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const names = ['chromium-headless-shell', 'chromium'];

/** A browser of this machine: `CHROME_PATH`, else one on `PATH`. Without any, a line says that its tests are skipped. */
export function findBrowser(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const named = process.env['CHROME_PATH'];
  const places = named === undefined ? names.flatMap((name) => folders.map((folder) => join(folder, name))) : [named];
  const found = places.find(isProgram);
  if (found === undefined) {
    process.stderr.write(`no browser (CHROME_PATH, ${names.join(', ')}): the tests in test/browser are skipped\n`);
  }
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
