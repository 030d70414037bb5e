import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { ChangesLoaded } from '../../wings/warehouse/index.ts';
import { loadModes } from '../../wings/warehouse/index.ts';
import { deleteRules } from '../../wings/warehouse/index.ts';
import { shownWord } from '../../lib/addresses/shown-address.ts';
import { shownPath } from '../../lib/addresses/shown-path.ts';
import { diskFileStore } from '../../places/files/file-store.ts';
import { bucketFlags, exportPlace, onLocalCopy, scratchFlag, warnOfRepair } from '../export-place.ts';
import { type Command, type CommandLine, exportWords } from '../command.ts';
import { plural } from '../../lib/format-text.ts';
import { choiceOf } from '../flag-values.ts';

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
      line: 'load asset-export-demo --to postgres://me@db.example/warehouse --mode upsert',
      about: 'replaces assets that exist already, with their child rows; the password is in PGPASSWORD',
    },
    {
      line: 'load asset-export-demo --to postgres://db/warehouse --sql',
      about: 'prints the statements for psql and connects to nothing',
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
          about: 'replace all rows; append; upsert by id (child rows follow); merge or scd2: apply the table changes',
          standard: 'replace',
        },
        { name: 'schema', value: 'NAME', about: 'schema for the tables; created if absent' },
        { name: 'prefix', value: 'TEXT', about: 'prefix for every table name' },
        {
          name: 'allow-empty',
          about: 'let an export without assets replace a table that has rows (without it: exit 3)',
        },
        {
          name: 'max-deletes',
          value: 'N|P%',
          about: 'merge, scd2: most deletes, as a count or as a share of the rows of assets; with more, exit 3',
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
        { name: 'sql', about: 'print the statements; connect to nothing' },
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
  const { loadExport, loadScript, parseTarget, requireNames } = await import('../../wings/warehouse/index.ts');
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
    mode: choiceOf(args, 'mode', loadModes) ?? 'replace',
    schema,
    prefix,
    allowEmpty: args.isOn('allow-empty'),
    deletes: choiceOf(args, 'deletes', deleteRules) ?? 'delete',
    maxDeletes: maxDeletesOf(args.text('max-deletes')),
  };
  if (args.isOn('sql')) {
    if (place.store.isShared && target.kind === 'postgres') throw noScript(folder);
    args.terminal.stdout.write(await loadScript(request));
    return exitCodes.complete.code;
  }
  let changes: ChangesLoaded | undefined;
  const tables = await onLocalCopy(place, args, (local) =>
    loadExport({ ...request, files: diskFileStore, folder: local }, target, (loaded) => (changes = loaded)),
  );
  const facts = changes;
  const shown = shownPath(folder, args.terminal.cwd());
  args.terminal.stdout.write(
    args.isOn('json')
      ? `${JSON.stringify({ folder, to: target.shown, mode: request.mode, schema: schema ?? null, prefix: prefix ?? '', tables, ...(facts && { state: facts.state, deleted: facts.deleted }) })}\n`
      : `${loadedText(shown, target.shown, facts)}${Object.entries(tables)
          .map(([name, rows]) => `  ${name.padEnd(12)} ${plural(rows, 'row')}\n`)
          .join('')}`,
  );
  return exitCodes.complete.code;
}

function loadedText(shown: string, target: string, facts: ChangesLoaded | undefined): string {
  if (facts?.state === 'already') return `${target} already holds ${shown}: nothing was changed\n`;
  const merged = facts?.state === 'merged' ? ` (${plural(facts.deleted, 'deleted asset')})` : '';
  return `${shown} ${merged === '' ? 'loaded' : 'merged'} into ${target}${merged}\n`;
}

function maxDeletesOf(text = '5%'): string {
  if (/^(\d{1,12}|(100|\d{1,2}(\.\d+)?)%)$/.test(text)) return text;
  throw new ExportError(
    'usage',
    `--max-deletes must be a count like 20 or a percentage like 5%, not "${shownWord(text)}"`,
  );
}

/** psql reads local files only. */
function noScript(address: string): ExportError {
  return new ExportError('usage', `psql cannot read ${address}`, {
    todo: 'Run load without --sql, or copy the export to a folder.',
  });
}
