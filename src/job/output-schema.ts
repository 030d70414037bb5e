import { z } from 'zod';
import { tableNames } from '../assets/columns.ts';
import { csvDialectNames } from '../lib/csv-dialect.ts';
import { compressions, formats } from '../sinks/sink.ts';
import { columnIssues } from './column-issues.ts';
import { count, distinct, field, oneOrMore } from './field.ts';

/** Which columns `assets` has; child tables are always whole. */
const columnFields = {
  columns: field(oneOrMore(z.string().min(1)).optional(), {
    flag: 'columns',
    value: 'NAME',
    description: 'columns of assets, in this order (default: all); child tables stay whole',
  }),
  exclude: field(oneOrMore(z.string().min(1)).default([]), {
    flag: 'exclude',
    value: 'NAME',
    description: 'columns of assets to leave out',
  }),
  rename: field(z.record(z.string(), z.string().regex(/^[A-Za-z_]\w{0,62}$/, 'must give plain names')).default({}), {
    flag: 'rename',
    value: 'FROM=TO',
    description: 'other names for columns of assets',
  }),
  nested: field(z.boolean().default(false), {
    flag: 'nested',
    description:
      'Parquet: write the lists of assets (creators, content_files, …) as lists of structs, not as JSON text',
  }),
  fetchedAt: field(z.boolean().default(false), {
    flag: 'fetched-at',
    description: 'add exported_at to every table: when the export began, UTC',
  }),
};

export const outputSchema = z
  .strictObject({
    dir: field(z.string().min(1), { flag: 'out', value: 'DIR', description: 'folder of the export' }),
    formats: field(distinct(z.enum(formats)).default(['parquet']), {
      flag: 'format',
      description: 'file formats to write',
    }),
    tables: field(distinct(z.enum(tableNames)).default(['assets']), {
      flag: 'tables',
      description: 'tables to write',
    }),
    ...columnFields,
    onDrift: field(z.enum(['keep', 'fail']).default('keep'), {
      flag: 'on-drift',
      description: 'what differs from the specification is kept and counted; fail: end a complete run with exit 3 then',
    }),
    rowsPerPart: field(count(1).max(10_000_000).default(100_000), {
      flag: 'rows-per-part',
      value: 'N',
      description: 'ids read for one part: the unit of files and of commits',
    }),
    compression: field(
      z
        .strictObject({
          parquet: z.enum(compressions.parquet).default(compressions.parquet[0]),
          csv: z.enum(compressions.csv).default(compressions.csv[0]),
          jsonl: z.enum(compressions.jsonl).default(compressions.jsonl[0]),
          raw: z.enum(compressions.raw).default(compressions.raw[0]),
        })
        .prefault({}),
      { flag: 'compression', value: 'FORMAT=CODEC', description: 'compression of a format, e.g. csv=gzip' },
    ),
    threads: field(count(1).max(256).optional(), {
      flag: 'threads',
      value: 'N',
      description:
        'threads that make parts, at most (default: number of cores); the files are the same for any number, and 1 starts none',
    }),
  })
  .superRefine((output, context) => {
    for (const { path, input, message } of columnIssues(output)) {
      context.addIssue({ code: 'custom', path: [...path], input, message });
    }
  });

export const csvSchema = z
  .strictObject({
    formulas: field(z.enum(['exact', 'escape']).default('exact'), {
      flag: 'csv-formulas',
      description: "what to do with cells that a spreadsheet would run: keep them exact, or put a ' before them",
    }),
    dialect: field(z.enum(csvDialectNames).default('rfc4180'), {
      flag: 'csv-dialect',
      description:
        'how null, the empty string and quotes are written: as the load statement of that warehouse takes them',
    }),
  })
  .prefault({});
