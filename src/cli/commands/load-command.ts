import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import { deleteRules } from '../../wings/warehouse/index.ts';
import { loadModes, type LoadSummary, newColumnRules, nulRules } from '../../wings/load/index.ts';
import { shownPath, shownWord } from '../../lib/addresses/shown-text.ts';
import { diskFileStore } from '../../places/files/file-store.ts';
import { bucketFlags, exportPlace, onLocalCopy, scratchFlag, warnOfRepair } from '../export-place.ts';
import { type Command, type CommandLine, exportWords } from '../command.ts';
import { plural } from '../../lib/format-text.ts';
import { forPeople } from '../output/show-error.ts';
import { bytesOf, choiceOf } from '../flag-values.ts';

/** `load`: a finished export into DuckDB or PostgreSQL. */
export const loadCommand: Command = {
  usage: ['load <out> --to duckdb:FILE [flags]', 'load <out> --to postgres://user@host/database [flags]'],
  about:
    'Creates the tables of a finished export in a database and loads them in one transaction. Refuses an export that fails verify.',
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
  ],
  words: exportWords,
  groups: [
    {
      title: 'Flags',
      flags: [
        { name: 'to', value: 'TARGET', about: 'duckdb:FILE or postgres://…' },
        {
          name: 'mode',
          value: 'MODE',
          choices: loadModes,
          about: 'replace all rows; merge or scd2: apply the table changes',
          standard: 'replace',
        },
        { name: 'schema', value: 'NAME', about: 'schema for the tables; created if absent' },
        { name: 'prefix', value: 'TEXT', about: 'prefix for every table name' },
        {
          name: 'allow-empty',
          about: 'let an export without assets replace a table that has rows (without it: exit 3)',
        },
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
            'what to do with deleted assets. merge: delete removes their rows, keep leaves them, mark sets deleted_at. scd2: delete closes the row, keep leaves it open',
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
  const { loadExport, parseTarget, requireNames } = await import('../../wings/load/index.ts');
  const target = parseTarget(to, args.terminal.cwd());
  const place = await exportPlace(args.words[0] ?? '', args);
  const { folder } = place;
  await warnOfRepair(place, args);
  const [schema, prefix] = [args.text('schema'), args.text('prefix')];
  requireNames({ schema, prefix });
  const request = {
    files: place.files,
    folder,
    kind: target.kind,
    mode: modeOf(args),
    schema,
    prefix,
    allowEmpty: args.isOn('allow-empty'),
    allowOlder: args.isOn('allow-older'),
    indexes: args.isOn('indexes'),
    views: args.isOn('views'),
    memoryBytes: memoryOf(args, target.kind),
    nul: choiceOf(args, 'nul', nulRules) ?? 'fail',
    newColumns: choiceOf(args, 'new-columns', newColumnRules) ?? 'add',
    deletes: choiceOf(args, 'deletes', deleteRules) ?? 'delete',
    maxDeletes: maxDeletesOf(args.text('max-deletes')),
  };
  let summary: LoadSummary | undefined;
  const note = (text: string): void => {
    args.terminal.stderr.write(`${forPeople(text, args.terminal.cwd())}\n`);
  };
  await onLocalCopy(place, args, (local) =>
    loadExport(
      { ...request, files: diskFileStore, folder: local, address: folder, note },
      target,
      (loaded) => (summary = loaded),
    ),
  );
  if (summary === undefined) throw new Error('a load gave no summary');
  const facts = { folder, to: target.shown, mode: request.mode, schema: schema ?? null, prefix: prefix ?? '' };
  args.terminal.stdout.write(
    args.isOn('json')
      ? `${JSON.stringify({ ...facts, ...summary })}\n`
      : loadedText(shownPath(folder, args.terminal.cwd()), target.shown, summary, request.nul),
  );
  return exitCodes.complete.code;
}

/** Modes that were removed, and what to write instead. */
const removedModes: Readonly<Record<string, string>> = {
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
  const { state, deleted, tables, nulValues } = summary;
  if (state === 'already') return `${target} already holds ${shown}: nothing was changed\n`;
  const gone = state === 'merged' || deleted > 0 ? ` (${plural(deleted, 'deleted asset')})` : '';
  const how = nul === 'remove' ? 'removed from' : 'replaced in';
  return [
    `${shown} ${state} into ${target}${gone}\n`,
    ...Object.entries(tables).map(([name, rows]) => `  ${name.padEnd(12)} ${plural(rows, 'row')}\n`),
    ...Object.entries(nulValues).map(([name, values]) => `  ${name}: NUL ${how} ${plural(values, 'value')}\n`),
  ].join('');
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
