import { resolve } from 'node:path';
import { exitCodes } from '../lib/exit-codes.ts';
import { ExportError } from '../lib/export-error.ts';
import { shownPath } from '../lib/shown-path.ts';
import { diskFileStore } from '../store/file-store.ts';
import { type Command, type CommandArguments, exportWords } from './command.ts';
import { plural } from './format-text.ts';

/** `load`: a finished export into DuckDB or PostgreSQL. */
export const loadCommand: Command = {
  usage: ['load <out> --to duckdb:FILE [flags]', 'load <out> --to postgres://user@host/database [flags]'],
  about:
    'Creates the tables of a finished export in a database and loads them, in one transaction. Refuses an export that verify would not pass.',
  examples: [
    { line: 'load out/demo --to duckdb:demo.duckdb', about: 'every table of the export, replacing what is there' },
    {
      line: 'load out/demo --to postgres://me@db.example/warehouse --mode upsert',
      about:
        'assets that are there already are replaced, with their rows in child tables; the password is in PGPASSWORD',
    },
    { line: 'load out/demo --to postgres://db/warehouse --sql', about: 'print the statements for psql instead' },
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
          about: 'replace all rows, append, or upsert by id (child rows follow)',
          standard: 'replace',
        },
        { name: 'sql', about: 'print the statements, and connect to nothing' },
        { name: 'json', about: 'print one JSON object' },
      ],
    },
  ],
  run: (args) => run(args),
};

async function run(args: CommandArguments): Promise<number> {
  const to = args.text('to');
  if (to === undefined) {
    throw new ExportError('usage', 'load needs --to: the database to load into', {
      todo: 'Write --to duckdb:FILE or --to postgres://user@host/database.',
    });
  }
  const [{ parseTarget }, { parseMode }, { loadExport, loadScript }] = await Promise.all([
    import('../load/load-target.ts'),
    import('../load/load-steps.ts'),
    import('../load/load-export.ts'),
  ]);
  const target = parseTarget(to, process.cwd());
  const folder = resolve(args.words[0] ?? '');
  const request = { files: diskFileStore, folder, kind: target.kind, mode: parseMode(args.text('mode')) };
  if (args.isOn('sql')) {
    process.stdout.write(await loadScript(request));
    return exitCodes.complete.code;
  }
  const tables = await loadExport(request, target);
  const shown = shownPath(folder, process.cwd());
  process.stdout.write(
    args.isOn('json')
      ? `${JSON.stringify({ folder, to: target.shown, mode: request.mode, tables })}\n`
      : `${shown} is loaded into ${target.shown}\n${Object.entries(tables)
          .map(([name, rows]) => `  ${name.padEnd(12)} ${plural(rows, 'row')}\n`)
          .join('')}`,
  );
  return exitCodes.complete.code;
}
