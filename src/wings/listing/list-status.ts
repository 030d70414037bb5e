import { listKind, unfinishedEnding, unprovenEnding } from '../../places/export/export-folder.ts';
import type { Reads } from '../../places/files/disk.ts';
import { lockOwner } from '../../places/files/lock.ts';
import { beganAt, type ListAccount } from './list-account.ts';
import { accountPath, readAccount } from './list-files.ts';
import { listFolder } from './list-request.ts';
import { type ListStart, readListStart } from './list-start.ts';
import { Members } from './members.ts';
import { readKept } from './page-journal.ts';

/** How a list stands: from its account, or from what an unfinished one has kept. */
export interface ListStatus extends Pick<ListAccount, 'kind' | 'filter' | 'dialect' | 'origin' | 'members'> {
  /** Its path, without the endings of what lies beside it. */
  readonly list: string;
  readonly state: 'complete' | 'unproven' | 'running' | 'stopped';
  readonly startedAt: string;
  /** Absent while it is not finished. */
  readonly proof?: ListAccount['proof'];
  readonly unproven?: string;
}

/**
 * How the list stands that a path names, or a file or folder beside it; undefined where there is none. Takes no lock.
 * @throws {ExportError} `damaged`
 */
export async function listStatus(files: Reads, path: string): Promise<ListStatus | undefined> {
  for (const list of listsNamed(path)) {
    const [unproven, proven] = [await readAccount(files, `${list}${unprovenEnding}`), await readAccount(files, list)];
    const start = await readListStart(files, listFolder(list));
    if (start !== undefined && !beganAt(proven, start.startedAtMs)) {
      const isHeld = (await lockOwner(listFolder(list))) !== undefined;
      if (isHeld || unproven === undefined) return unfinished(files, list, start, isHeld ? 'running' : 'stopped');
    }
    const account = unproven ?? proven;
    if (account !== undefined) return finished(list, account);
  }
  return undefined;
}

/** The list that a path can mean: what lies beside it has its name and an ending. */
function listsNamed(path: string): string[] {
  const without = (ending: string): string[] => (path.endsWith(ending) ? [path.slice(0, -ending.length)] : []);
  const [beside] = [unfinishedEnding, accountPath(unprovenEnding), unprovenEnding].flatMap(without);
  return beside === undefined ? [path, ...without(accountPath(''))] : [beside];
}

async function unfinished(
  files: Reads,
  list: string,
  { settings, startedAtMs }: ListStart,
  state: 'running' | 'stopped',
): Promise<ListStatus> {
  const members = new Members();
  for (const entry of (await readKept(files, listFolder(list))).entries) if ('page' in entry) members.add(entry);
  const { filter: by, address, onlyVerified, dialect, origin } = settings;
  return {
    kind: listKind,
    list,
    state,
    startedAt: new Date(startedAtMs).toISOString(),
    filter: { by, address, onlyVerified },
    dialect,
    origin,
    members: members.unique,
  };
}

function finished(list: string, account: ListAccount): ListStatus {
  const { kind, filter, dialect, origin, members, firstCall, proof, unproven } = account;
  const facts = { kind, list, startedAt: firstCall, filter, dialect, origin, members, proof };
  return unproven === undefined ? { ...facts, state: 'complete' } : { ...facts, state: 'unproven', unproven };
}
