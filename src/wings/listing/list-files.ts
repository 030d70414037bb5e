import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { formOfName } from '../../core/ids/id-input.ts';
import { listKind, unprovenEnding } from '../../places/export/export-folder.ts';
import type { PartCodec } from '../../core/formats/sink.ts';
import { openCodec } from '../../places/export/codec.ts';
import { type Disk, type Reads, writeWhole } from '../../places/files/disk.ts';
import { listBlocks, type Members } from './members.ts';
import type { ListAccount } from './list-account.ts';

/** The account beside a list. */
export function accountPath(list: string): string {
  return `${list}.json`;
}

/** Writes the list: whole under its name, or not there. */
export async function writeList(
  files: Disk,
  path: string,
  members: Members,
): Promise<{
  readonly path: string;
  readonly bytes: number;
  /** Of its bytes as they lie on the disk. Hex. */
  readonly sha256: string;
}> {
  const codec = await openCodec(codecOf(path));
  const hash = createHash('sha256');
  let bytes = 0;
  await writeWhole(files, { path }, async (file) => {
    const put = async (packed: Uint8Array): Promise<void> => {
      if (packed.length === 0) return;
      hash.update(packed);
      bytes += packed.length;
      await file.write(packed);
    };
    for (const block of listBlocks(members)) await put(await codec.push(block));
    await put(await codec.end());
  });
  await files.syncFolder(dirname(path));
  return { path, bytes, sha256: hash.digest('hex') };
}

export async function writeAccount(files: Disk, list: string, account: ListAccount): Promise<void> {
  const text = `${JSON.stringify(account, undefined, 2)}\n`;
  await writeWhole(files, { path: accountPath(list) }, (file) => file.write(Buffer.from(text)));
  await files.syncFolder(dirname(list));
}

/** Removes the list that was not proven: the same command proved it now. */
export async function removeUnproven(files: Disk, path: string): Promise<void> {
  const unproven = `${path}${unprovenEnding}`;
  for (const each of [unproven, accountPath(unproven)]) await files.remove(each);
}

/** As readers of ids take a file of that name. */
function codecOf(path: string): PartCodec {
  const name = path.endsWith(unprovenEnding) ? path.slice(0, -unprovenEnding.length) : path;
  return formOfName(name).compression;
}

/** The account beside a list; undefined where there is none, or the file is something else. */
export async function readAccount(files: Reads, list: string): Promise<ListAccount | undefined> {
  const path = accountPath(list);
  if (typeof (await files.sizeOf(path)) !== 'number') return undefined;
  try {
    const account = JSON.parse(Buffer.from((await files.readAll(path)) ?? []).toString()) as {
      readonly kind?: unknown;
    };
    return account.kind === listKind ? (account as ListAccount) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
