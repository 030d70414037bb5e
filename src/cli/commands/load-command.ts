import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import {
  deleteRules,
  type loadExport,
  loadModes,
  type LoadSummary,
  newColumnRules,
  nulRules,
} from '../../wings/load/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { exportPaths } from '../../places/export/export-folder.ts';
import type { NightInOrder } from '../../wings/nights/index.ts';
import { shownPath, shownWord } from '../../lib/addresses/shown-text.ts';
import { localDisk } from '../../places/files/disk.ts';
import { bucketFlags, exportPlace, onLocalCopy, scratchFlag, warnOfRepair } from '../export-place.ts';
import { type Command, type CommandLine, exportWords } from '../command.ts';
import { count, plural } from '../../lib/format-text.ts';
import { forPeople } from '../output/show-error.ts';
import { bytesOf, choiceOf } from '../flag-values.ts';

/** `load`: a finished export into DuckDB or PostgreSQL. */
export const loadCommand: Command = {
  usage: [
    'load <out> --to duckdb:FILE [flags]',
    'load <out> --to postgres://user@host/database [flags]',
    'load <nights> --to TARGET [flags]',
  ],
  about:
    'Brings the tables of a database to the rows of a finished export, in one transaction. Chooses the way itself: by the table changes, by comparing, or into empty tables. Refuses an export that fails verify. Of a folder of nights it loads what the tables lack: with replace the newest complete night, with scd2 each night since the loaded one.',
  examples: [
    {
      line: 'load asset-export-demo --to duckdb:demo.duckdb',
      about: 'loads every table and replaces existing rows',
    },
    {
      line: 'load asset-export-demo --to postgres://me@db.example/warehouse',
      about: 'the same in PostgreSQL; the password is in PGPASSWORD',
    },
    {
      line: 'load asset-export-demo --to postgres://me@db/warehouse --schema raw --prefix nft_',
      about: 'tables raw.nft_assets, raw.nft_creators, …',
    },
    {
      line: 'load out/nightly --to duckdb:demo.duckdb --mode scd2',
      about: 'every night that the tables lack, in order; each in a transaction',
    },
  ],
  words: {
    ...exportWords,
    about:
      'folder or bucket of the export (its --out or output.dir), or of its nights: out/nightly or out/nightly/date=*',
    is: 'either',
  },
  groups: [
    {
      title: 'Flags',
      flags: [
        { name: 'to', value: 'TARGET', about: 'duckdb:FILE or postgres://…' },
        {
          name: 'mode',
          value: 'MODE',
          choices: loadModes,
          about:
            'replace: the tables hold the assets of the export; scd2: every version, the open rows are those of the export',
          standard: 'replace',
        },
        { name: 'schema', value: 'NAME', about: 'schema for the tables; created if absent' },
        { name: 'prefix', value: 'TEXT', about: 'prefix for every table name' },
        {
          name: 'allow-empty',
          about: 'let an export without assets make tables, or empty a table that has rows (without it: exit 3)',
        },
        { name: 'allow-sample', about: 'let a sample (--sample) be loaded (without it: exit 2)' },
        { name: 'allow-older', about: 'replace: let an older export replace a newer one (without it: exit 2)' },
        {
          name: 'max-deletes',
          value: 'N|P%',
          about: 'most deletes, as a count or as a share of the rows of assets; with more, exit 3',
          standard: '5%',
        },
        {
          name: 'deletes',
          value: 'RULE',
          choices: deleteRules,
          about:
            'what to do with assets that the export does not have: delete (scd2: close) their rows, keep them, or (replace) mark them in deleted_at',
          standard: 'delete',
        },
        {
          name: 'new-columns',
          value: 'RULE',
          choices: newColumnRules,
          about: 'columns that an existing table lacks: add them, or fail (exit 9)',
          standard: 'add',
        },
        {
          name: 'nul',
          value: 'RULE',
          choices: nulRules,
          about: 'PostgreSQL: NUL characters in texts. fail (exit 9), remove them, or replace each by U+FFFD',
          standard: 'fail',
        },
        { name: 'indexes', about: 'PostgreSQL: create indexes of collection, owner, creator and trait where absent' },
        {
          name: 'views',
          about: 'create the view nft_metadata: a row per asset under plain names (needs the right to create)',
        },
        {
          name: 'memory',
          value: 'SIZE',
          about: 'DuckDB: approximate memory limit, for example 500MB or 2GB; the rest goes to disk (FILE.tmp)',
          standard: '1GB',
        },
        ...bucketFlags,
        scratchFlag,
        { name: 'json', about: 'print one JSON object' },
      ],
    },
  ],
  run: (args) => run(args),
};

async function run(args: CommandLine): Promise<number> {
  const to = args.text('to');
  if (to === undefined) {
    throw new ExportError('usage', '--to is missing: load needs a database', {
      todo: 'Write --to duckdb:FILE or --to postgres://user@host/database.',
    });
  }
  const { parseTarget, requireNames } = await import('../../wings/load/index.ts');
  const target = parseTarget(to, args.terminal.cwd());
  const [schema, prefix] = [args.text('schema'), args.text('prefix')];
  requireNames({ schema, prefix });
  const request = {
    kind: target.kind,
    mode: modeOf(args),
    schema,
    prefix,
    allowEmpty: args.isOn('allow-empty'),
    allowSample: args.isOn('allow-sample'),
    allowOlder: args.isOn('allow-older'),
    indexes: args.isOn('indexes'),
    views: args.isOn('views'),
    memoryBytes: memoryOf(args, target.kind),
    nul: choiceOf(args, 'nul', nulRules) ?? 'fail',
    newColumns: choiceOf(args, 'new-columns', newColumnRules) ?? 'add',
    deletes: choiceOf(args, 'deletes', deleteRules) ?? 'delete',
    maxDeletes: maxDeletesOf(args.text('max-deletes')),
  };
  const word = args.words[0] ?? '';
  const nights = await nightsOf(word, args);
  if (nights === undefined) await loadOne(word, args, { request, target });
  else await loadLacking(nights, args, { request: { ...request, skipHeld: true }, target });
  return exitCodes.complete.code;
}

/** A load, without the export. */
interface Planned {
  readonly request: Omit<Parameters<typeof loadExport>[0], 'files' | 'folder' | 'note'>;
  readonly target: Parameters<typeof loadExport>[1];
}

function noteOf({ terminal }: CommandLine): (text: string) => void {
  return (text) => terminal.stderr.write(`${forPeople(text, terminal.cwd())}\n`);
}

async function loadOne(word: string, args: CommandLine, { request, target }: Planned): Promise<void> {
  const wing = await import('../../wings/load/index.ts');
  const place = await exportPlace(word, args);
  const { folder } = place;
  await warnOfRepair(place, args);
  let summary: LoadSummary | undefined;
  await onLocalCopy(place, args, (local) =>
    wing.loadExport(
      { ...request, files: localDisk, folder: local, address: folder, note: noteOf(args) },
      target,
      (loaded) => (summary = loaded),
    ),
  );
  if (summary === undefined) throw new Error('a load gave no summary');
  const { mode, schema = null, prefix = '', nul = 'fail' } = request;
  args.terminal.stdout.write(
    args.isOn('json')
      ? `${JSON.stringify({ folder, to: target.shown, mode, schema, prefix, ...summary })}\n`
      : loadedText(shownPath(folder, args.terminal.cwd()), target.shown, summary, nul),
  );
}

/** The nights that a word names, in their order; undefined where it names an export. @throws {ExportError} `input` where there is none */
async function nightsOf(word: string, args: CommandLine): Promise<NightInOrder[] | undefined> {
  const at = word.split('/').findIndex((name) => /[*?]/.test(name));
  const parts = word.split('/');
  const pattern = at < 0 ? undefined : parts.slice(at).join('/').replace(/\/+$/, '');
  const place = await exportPlace(
    at < 0 ? word : parts.slice(0, at).join('/') || (word.startsWith('/') ? '/' : '.'),
    args,
  );
  if (!place.store.isShared && (await place.files.sizeOf(place.folder)) !== 'folder') return undefined;
  const { hasBegun } = await import('../../core/run/homes/open-home.ts');
  const isExport = (await place.store.look(exportPaths.manifest)) !== undefined || (await hasBegun(place));
  if (pattern === undefined && isExport) return undefined;
  const { nightsInOrder, namesMatching } = await import('../../wings/nights/index.ts');
  const isWanted = pattern === undefined ? () => true : namesMatching(pattern);
  const nights = await nightsInOrder(place, systemClock, { isWanted, note: noteOf(args) });
  if (nights.length > 0) return nights;
  // What opens an export says why it is none.
  if (pattern === undefined) return undefined;
  throw new ExportError('input', `${shownWord(word)} has no complete export`, {
    todo: 'Name an export, the folder that holds the nights, or a pattern in quotes such as out/nightly/date=*.',
  });
}

/** Loads what the tables lack: with `replace` the newest night, with `scd2` each night since the one that they hold. */
async function loadLacking(nights: readonly NightInOrder[], args: CommandLine, planned: Planned): Promise<void> {
  const { request, target } = planned;
  const { heldStartMs } = await import('../../wings/load/index.ts');
  const held = request.mode === 'scd2' ? await heldStartMs(target, { ...request, note: noteOf(args) }) : Infinity;
  const lacking = nights.filter(({ startedAtMs = 0 }) => startedAtMs > (held ?? -1));
  for (const { folder } of lacking.length > 0 ? lacking : nights.slice(-1)) await loadOne(folder, args, planned);
}

/** Modes that were removed, and what to write instead. */
const removedModes: Readonly<Record<string, string>> = {
  merge: 'Write --mode replace, which updates the rows that changed.',
  append:
    'Write --mode replace; to keep every version of an asset, --mode scd2; for several exports, a --prefix for each.',
  upsert: 'Write --mode replace; to keep every version of an asset, --mode scd2.',
};

function modeOf(args: CommandLine): (typeof loadModes)[number] {
  const text = args.text('mode') ?? '';
  const instead = Object.hasOwn(removedModes, text) ? removedModes[text] : undefined;
  if (instead !== undefined) throw new ExportError('usage', `--mode ${text} was removed`, { todo: instead });
  return choiceOf(args, 'mode', loadModes) ?? 'replace';
}

function loadedText(shown: string, target: string, summary: LoadSummary, nul: string): string {
  const { state, way, changed, deleted, tables, nulValues } = summary;
  if (state === 'already') return `${target} already holds ${shown}: nothing was changed\n`;
  const how = nul === 'remove' ? 'removed from' : 'replaced in';
  return [
    `${shown} loaded into ${target}, ${shownWay(way)} (${plural(changed, 'asset')} written, ${count(deleted)} deleted)\n`,
    ...Object.entries(tables).map(([name, rows]) => `  ${name.padEnd(12)} ${plural(rows, 'row')}\n`),
    ...Object.entries(nulValues).map(([name, values]) => `  ${name}: NUL ${how} ${plural(values, 'value')}\n`),
  ].join('');
}

function shownWay(way: LoadSummary['way']): string {
  return way === 'new file' ? 'as a new file' : (way ?? '');
}

const leastMemoryBytes = 200e6;

function memoryOf(args: CommandLine, kind: 'duckdb' | 'postgres'): number | undefined {
  const bytes = bytesOf(args, 'memory', leastMemoryBytes);
  if (bytes === undefined || kind === 'duckdb') return bytes;
  throw new ExportError('usage', '--memory works with DuckDB: a load into PostgreSQL streams the rows', {
    todo: 'Leave it out.',
  });
}

function maxDeletesOf(text = '5%'): string {
  if (/^(\d{1,12}|(100|\d{1,2}(\.\d+)?)%)$/.test(text)) return text;
  throw new ExportError(
    'usage',
    `--max-deletes must be a count like 20 or a percentage like 5%, not "${shownWord(text)}"`,
  );
}
