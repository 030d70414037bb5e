import { access, open } from 'node:fs/promises';
import path from 'node:path';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { plural } from '../../lib/format-text.ts';
import {
  exportPaths,
  isKeptIds,
  lakeFolder,
  isUnproven,
  listKind,
  unfinishedEnding,
  unprovenEnding,
} from '../../places/export/export-folder.ts';

/** Files that a pattern passes by: copies of ids, what lies beside lists, and what lies beside nights. */
const kinds = ['copy', 'unproven', 'unfinished', 'account', 'lake'] as const;
type PassedKind = (typeof kinds)[number];

/** What is in such files, behind "in which" and before "in it". */
const contents: Readonly<Record<PassedKind, readonly [string, string]>> = {
  copy: ['exports keep their ids', '(ids/part-NNNNN.csv.gz)'],
  unproven: ['a list of ids is not proven', `(${unprovenEnding})`],
  unfinished: ['a list of ids is being made', `(${unfinishedEnding}/)`],
  account: ['the account of a list of ids stands', '(FILE.json)'],
  lake: ['the tables of a lake are described', '(lake/TABLE/metadata/)'],
};

/** Counts what a pattern passes by. */
export class PassedFiles {
  readonly #counts = new Map<PassedKind, number>();

  /** @returns whether a pattern passes it by */
  async passes(file: string): Promise<boolean> {
    const kind = await passedKind(file);
    if (kind !== undefined) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    return kind !== undefined;
  }

  /** What was passed by, and why: a clause for each kind. */
  notes(): string[] {
    return this.#inOrder().map(([kind, files]) => {
      const [what, name] = contents[kind];
      return `${plural(files, 'file')} not read, because ${what} in ${files === 1 ? 'it' : 'them'} ${name}`;
    });
  }

  #inOrder(): [PassedKind, number][] {
    return kinds.flatMap((kind) => {
      const files = this.#counts.get(kind);
      return files === undefined ? [] : [[kind, files] satisfies [PassedKind, number]];
    });
  }

  /** The same, as a list of files. */
  named(): string[] {
    return this.#inOrder().map(([kind, files]) => `${plural(files, 'file')} in which ${contents[kind].join(' ')}`);
  }
}

async function passedKind(file: string): Promise<PassedKind | undefined> {
  if (await isCopyOfIds(file)) return 'copy';
  if (isUnproven(file)) return 'unproven';
  const folders = file.split(/[/\\]/).slice(0, -1);
  if (folders.some((name) => name.endsWith(unfinishedEnding))) return 'unfinished';
  if (folders.at(-3) === lakeFolder && folders.at(-1) === 'metadata') return 'lake';
  return (await isAccount(file)) ? 'account' : undefined;
}

const firstMember = Buffer.from(`{\n  "kind": "${listKind}"`);

/** In a bucket nothing is read: its name does not tell. */
async function isAccount(file: string): Promise<boolean> {
  if (!file.endsWith('.json') || isBucketAddress(file)) return false;
  const opened = await open(file, 'r');
  try {
    const { buffer } = await opened.read({ buffer: Buffer.alloc(firstMember.length) });
    return buffer.equals(firstMember);
  } finally {
    await opened.close();
  }
}

/**
 * Whether a file holds the ids that an export keeps. In a bucket its name decides: to look for the export takes a request for
 * each folder.
 */
async function isCopyOfIds(file: string): Promise<boolean> {
  if (!isKeptIds(file)) return false;
  if (isBucketAddress(file)) return true;
  const folder = path.dirname(path.dirname(file));
  return (await isThere(path.join(folder, exportPaths.manifest))) || isThere(path.join(folder, exportPaths.run));
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
