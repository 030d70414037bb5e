import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flipped } from '../../places/files/memory-files.ts';

/** A file that a stopped program left, and what a program of other ids left under the same name. */
export interface KeptFile {
  readonly path: string;
  readonly other: string;
  /** A file that nobody names. */
  readonly victim: string;
}

type Change = (bytes: Buffer) => Buffer;

const written =
  (change: Change) =>
  ({ path }: KeptFile): void => {
    writeFileSync(path, change(readFileSync(path)));
  };

const instead = (put: (file: KeptFile) => void) => (file: KeptFile) => {
  rmSync(file.path);
  put(file);
};

const lines = (change: (all: string[]) => string[]) =>
  written((bytes) => Buffer.from(change(bytes.toString('latin1').split('\n')).join('\n'), 'latin1'));

/** What becomes of a file while nobody works with it. */
export const damages: Readonly<Record<string, (file: KeptFile) => void>> = {
  'cut in the middle': written((bytes) => bytes.subarray(0, bytes.length >> 1)),
  'cut by a byte': written((bytes) => bytes.subarray(0, -1)),
  emptied: written(() => Buffer.alloc(0)),
  'a bit of its start': written((bytes) => flipped(bytes, 0)),
  'a bit in the middle': written((bytes) => flipped(bytes, bytes.length >> 1)),
  'a bit of its end': written((bytes) => flipped(bytes, Math.max(0, bytes.length - 2))),
  zeros: written((bytes) => Buffer.alloc(bytes.length)),
  'a block twice': written((bytes) => {
    const [from, to] = [bytes.length >> 2, bytes.length >> 1];
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  }),
  'its lines in another order': lines((all) => [...all.slice(0, -1).toReversed(), ...all.slice(-1)]),
  'its last line twice': lines((all) => [...all.slice(0, -1), ...all.slice(-2)]),
  'the file of another': ({ path, other }) => {
    if (existsSync(other)) cpSync(other, path);
  },
  removed: instead(() => undefined),
  'a folder': instead(({ path }) => {
    mkdirSync(path);
  }),
  'a link': instead(({ path, victim }) => {
    symlinkSync(victim, path);
  }),
  'a pipe': instead(({ path }) => {
    execFileSync('bash', ['-c', 'mkfifo "$0"', path]);
  }),
  'a device': instead(({ path }) => {
    symlinkSync('/dev/zero', path);
  }),
};

/** Every file below a folder. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
