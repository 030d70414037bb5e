import type { Clock } from '../../../lib/clock.ts';
import { literal, doubleQuoted } from '../../../lib/sql-text.ts';
import type { Database } from '../database.ts';
import { selectPostgresSchema } from '../opening.ts';
import { changePatiently } from '../short-locks.ts';
import { notMade } from './not-made.ts';

/** A view over the loaded tables. */
export interface MadeView {
  readonly name: string;
  /** The table beside which it stands. */
  readonly beside: string;
  /** `CREATE OR REPLACE VIEW "name" AS …` */
  readonly create: string;
}

/**
 * Makes a view that is absent, or anew where it differs. An equal one is not touched: all who read it would wait, behind whoever has
 * read it before.
 */
function makeViewBlock({ name, beside, create }: MadeView): string {
  const query = create.slice(`CREATE OR REPLACE VIEW ${doubleQuoted(name)}`.length);
  const wanted = 'pg_temp.asset_export_view';
  return `DO ${literal(`DECLARE
  query text := ${literal(query)};
  made text := (SELECT format('%I.%I', nspname, ${literal(name)}::text) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = to_regclass(${literal(doubleQuoted(beside))}));
  held oid := to_regclass(made);
BEGIN
  EXECUTE 'CREATE VIEW ${wanted}' || query;
  IF NOT EXISTS (SELECT FROM pg_class WHERE oid = held AND relkind = 'v') OR pg_get_viewdef(held) <> pg_get_viewdef('${wanted}'::regclass) THEN
    EXECUTE 'CREATE OR REPLACE VIEW ' || made || query;
  END IF;
  DROP VIEW ${wanted};
END`)};\n`;
}

/** Makes a view after the rows are kept. @throws {ExportError} `loadFailed` or `unavailable` when it cannot be made */
export async function makeView(
  database: Database,
  view: MadeView,
  { schema, clock }: { readonly schema: string | undefined; readonly clock: Clock },
): Promise<void> {
  try {
    await changePatiently(database, clock, async () => {
      for (const sql of [...selectPostgresSchema(schema), makeViewBlock(view)]) await database.run(sql);
    });
  } catch (error) {
    const todo = `If ${view.name} is a table or view of your own, rename it. Then run load again with --views.`;
    throw notMade(`the view ${view.name}`, error, todo);
  }
}
