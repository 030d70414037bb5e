import { dirname, join } from 'node:path';
import { ExportError } from '../../../lib/export-error.ts';
import { isBucketAddress } from '../../../lib/addresses/address-kinds.ts';
import { commandLine, shellWord } from '../../../lib/addresses/shown-text.ts';
import { doubleQuoted, literal } from '../../../lib/sql-text.ts';
import { contentSeal } from '../../../places/export/content-seal.ts';
import { readManifest } from '../../../places/export/manifest.ts';
import type { Database } from '../database.ts';
import type { LoadedExport } from '../loaded-export.ts';
import type { ChangeLoadMode } from '../load-modes.ts';
import { loadsTable } from '../load-record.ts';
import { holdsNewer } from '../replace-all.ts';

/** What a table holds, by the record of loads. */
export interface Standing {
  readonly mode: string;
  readonly seal: string | undefined;
  /** The folder name of the export; undefined in records of version 0.1. */
  readonly name: string | undefined;
  readonly startedAtMs: number | undefined;
}

export async function standingOf(database: Database, table: string): Promise<Standing | undefined> {
  const at = `(extract(epoch FROM started_at) * 1000)`;
  const [row] = await database.rows(
    `SELECT mode, seal, export, ${at} FROM ${doubleQuoted(loadsTable)} WHERE "table" = ${literal(table)}`,
  );
  if (row === undefined) return undefined;
  const [mode, seal, name, startedAtMs] = (row as readonly (string | number | null)[]).map((cell) => cell ?? undefined);
  return {
    mode: String(mode),
    seal: seal === undefined ? undefined : String(seal),
    name: name === undefined ? undefined : String(name),
    startedAtMs: startedAtMs === undefined ? undefined : Number(startedAtMs),
  };
}

export function otherMode(table: string, standing: string, mode: ChangeLoadMode): ExportError {
  return new ExportError('usage', `the table ${table} was loaded with --mode ${standing}, not --mode ${mode}`, {
    todo: `Load with --mode ${standing}, or into other tables with --schema or --prefix.`,
  });
}

/** An export whose changes do not follow what a table holds. */
export interface Elsewhere {
  readonly table: string;
  readonly loaded: LoadedExport;
  readonly base: { readonly name: string; readonly seal: string } | undefined;
  readonly standing: Standing | undefined;
  readonly mode: ChangeLoadMode;
}

/** What to do where the changes of an export do not follow what the table holds. */
export async function standsElsewhere(elsewhere: Elsewhere): Promise<ExportError> {
  const { table, loaded, base, standing, mode } = elsewhere;
  const { name, address, startedAtMs } = loaded;
  const noChanges = `${address} has no table changes`;
  if (startedAtMs !== undefined && (standing?.startedAtMs ?? 0) > startedAtMs) {
    const known = base === undefined ? `${noChanges}, and ` : '';
    return holdsNewer(`${known}the table ${table}`, standing?.name ?? 'an export', {
      name,
      canReplace: mode === 'merge',
    });
  }
  const since = `${address} has the changes since ${base?.name ?? ''} (seal ${base?.seal.slice(0, 12) ?? ''}), which the table ${table} does not hold`;
  return new ExportError('usage', base === undefined ? noChanges : since, { todo: await wayOutOf(elsewhere) });
}

/** What is beside an export under the name of another one. */
type Beside = 'it' | 'another of this name' | undefined;

async function wayOutOf({ loaded, base, standing, mode }: Elsewhere): Promise<string> {
  const { address, finished, name } = loaded;
  const beside = (night: string): string =>
    isBucketAddress(address) ? `${address.slice(0, address.lastIndexOf('/'))}/${night}` : join(dirname(address), night);
  const look = async (night: string, seal: string | undefined): Promise<Beside> => {
    // What else is in a bucket is not known here.
    if (isBucketAddress(address)) return 'it';
    const manifest = await readManifest(finished.files, beside(night));
    if (manifest === undefined) return undefined;
    return seal === undefined || contentSeal(manifest) === seal ? 'it' : 'another of this name';
  };
  const { diff } = finished.manifest;
  const isNewerThere = diff === undefined || (await look(name, diff.to.seal)) === 'it';
  const newer = diff === undefined ? address : isNewerThere ? beside(name) : 'NEWER';
  const replace = `load ${shellWord(newer)} with --mode replace`;
  const others = 'load into other tables with --schema or --prefix';
  const held = standing?.name;
  const found = held === undefined ? undefined : await look(held, standing?.seal);
  const isAnew = found === 'another of this name' || held === name || (held !== undefined && held === base?.name);
  if (isAnew) {
    const restore = `restore the one with the seal ${standing?.seal?.slice(0, 12) ?? ''}`;
    const way =
      mode === 'merge' ? `${capital(replace)}. Later exports can be merged` : capital(`${restore}, or ${others}`);
    return `${held ?? ''} was run anew after it was loaded. ${way}.`;
  }
  const ways: string[] = [];
  const isBaseThere = base !== undefined && (await look(base.name, base.seal)) === 'it';
  if (isBaseThere) ways.push(`Load ${shellWord(beside(base.name))} first, with --mode ${mode}.`);
  if (held !== undefined && found === 'it') {
    const out = `changes-${name}`;
    const compare = `run: ${commandLine('diff', beside(held), newer, '--out', out)}, then load ${shellWord(out)} --mode ${mode}`;
    ways.push(isBaseThere ? `Or ${compare}` : `The table holds ${held}. To load what changed since, ${compare}`);
  }
  if (ways.length > 0) return ways.join('\n');
  const lacking = base === undefined ? '' : `${base.name} is not beside it. If it was pruned, `;
  const compare = `compare the export that the table holds with this one (${commandLine('diff', 'OLDER', newer, '--out', 'DIR')}) and load DIR`;
  // Rows of scd2 are versions: replace would remove them.
  const restore = mode === 'scd2' && held !== undefined ? `Restore ${held} first, which the table holds. ` : '';
  const todo = `${lacking}${compare}, or ${mode === 'merge' ? replace : others}.`;
  return `${restore}${lacking === '' ? capital(todo) : todo}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
