import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { ExportError } from '../export-error.ts';

/**
 * The home folder of the user. @param instead says which folder to name where there is none
 * @throws {ExportError} `usage` for a user without one: a uid of a container, or an empty `HOME`
 */
export function homeFolder(instead: string): string {
  const home = homeOrNone();
  if (isAbsolute(home)) return home;
  throw new ExportError('usage', 'this user has no home folder (HOME)', { todo: instead });
}

function homeOrNone(): string {
  try {
    return homedir();
  } catch {
    return ''; // The uid has no entry.
  }
}
