import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Builds `dist` when a source is newer: tests that start the program start what users get. */
export function setup(): void {
  const built = modifiedMs(join(root, 'dist/main.js'));
  const newest = Math.max(
    ...['build.ts', 'build-kernel.ts'].map((name) => modifiedMs(join(root, name)) ?? 0),
    ...['src', 'kernel'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => modifiedMs(join(root, folder, name)) ?? 0,
      ),
    ),
  );
  if (built !== undefined && built > newest) return;
  execFileSync(process.execPath, ['--import', 'ts-blank-space/register', 'build.ts'], { cwd: root, stdio: 'inherit' });
}

function modifiedMs(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
