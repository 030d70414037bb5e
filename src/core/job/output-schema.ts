import { z } from 'zod';
import { bucketAddressOf } from '../../lib/addresses/address-kinds.ts';
import {
  assetsTable,
  changeColumns,
  changesTable,
  fetchedAt,
  proofColumns,
  provenColumns,
  tableNames,
} from '../records/columns.ts';
import { csvDialectNames, compressions, type Format, formats } from '../formats/sink.ts';
import { address, distinct, field, oneOrMore, wholeNumber } from './job-sections.ts';
import { exportedAt } from '../records/shape-table.ts';
import { nearestName } from '../../lib/format-text.ts';

/** Which columns `assets` has; child tables are always whole. */
const columnFields = {
  columns: field(oneOrMore(z.string().min(1)).optional(), {
    flag: 'columns',
    value: 'NAME',
    description: 'columns of assets, in this order (default: all); child tables keep all columns',
  }),
  exclude: field(oneOrMore(z.string().min(1)).default([]), {
    flag: 'exclude',
    value: 'NAME',
    description: 'columns of assets to omit',
  }),
  rename: field(
    z.record(z.string(), z.string().regex(/^[A-Za-z_]\w{0,62}$/, 'must use letters, digits and _')).default({}),
    {
      flag: 'rename',
      value: 'FROM=TO',
      description: 'new names for columns of assets',
    },
  ),
  exportedAt: field(z.boolean().default(false), {
    flag: 'exported-at',
    description: 'add the column exported_at to every table: start of the export, UTC',
  }),
  proofs: field(z.boolean().default(false), {
    flag: 'proofs',
    description: 'add three columns: whether compressed assets agree with their own hashes (help proofs)',
  }),
};

const kept = (what: string) => z.int().min(0).max(999_999).default(0).describe(`how many to keep of: ${what}`);

export const outputSchema = z
  .strictObject({
    dir: field(address('out'), {
      flag: 'out',
      value: 'DIR',
      description: 'output folder or bucket (s3://bucket/prefix); {date} becomes the UTC day of its start',
    }),
    endpoint: field(z.url({ protocol: /^https?$/ }).optional(), {
      flag: 'out-endpoint',
      value: 'URL',
      description: 'address of an S3-compatible store, for an output folder s3://bucket/prefix',
    }),
    scratch: field(address('local').optional(), {
      flag: 'scratch',
      value: 'DIR',
      description: 'local folder for unfinished files of an export in a bucket (default: $XDG_CACHE_HOME/asset-export)',
    }),
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
      description: 'schema drift: count it (keep), or also end with exit 3 (fail)',
    }),
    rowsPerPart: field(wholeNumber(1).max(10_000_000).default(100_000), {
      flag: 'rows-per-part',
      value: 'N',
      description: 'ids per part, which ends with the call that reaches this number',
    }),
    compression: field(
      z
        .strictObject({
          parquet: z.enum(compressions.parquet).default(compressions.parquet[0]),
          csv: z.enum(compressions.csv).default(compressions.csv[0]),
          jsonl: z.enum(compressions.jsonl).default(compressions.jsonl[0]),
          raw: z.enum(compressions.raw).default(compressions.raw[0]),
        } satisfies Readonly<Record<Format, z.ZodType>>)
        .prefault({}),
      { flag: 'compression', value: 'FORMAT=CODEC', description: 'compression per format, e.g. csv=gzip' },
    ),
    report: field(z.boolean().default(false), {
      flag: 'report',
      description: 'write report.html into the output folder at the end of each run, complete or not',
    }),
    latest: field(z.boolean().default(false), {
      flag: 'latest',
      description: 'name the complete export in latest.json beside the output folder, and by the link latest',
    }),
    lake: field(lakes(), {
      flag: 'lake',
      value: 'iceberg',
      description: 'after exit 0, publish a snapshot of Iceberg tables in lake/; needs parquet and {date}',
    }),
    keepIds: z.boolean().default(true).meta({
      inFileOnly: true,
      description:
        'keep a compressed copy of the ids in ids/ of the output folder, about 37 bytes an id: a later repair needs no other list; decided when an export begins',
    }),
    keep: z
      .strictObject({
        last: kept('the newest exports'),
        daily: kept('the newest export of each of the last days'),
        weekly: kept('the same for ISO weeks'),
        monthly: kept('the same for months'),
      })
      .refine(
        (rules) => Object.values(rules).some((number) => number > 0),
        'must keep something: give one of its fields a number',
      )
      .optional()
      .meta({
        inFileOnly: true,
        description:
          'after a complete run that ends with exit 0, remove the nights of the same pattern of output.dir that no rule keeps, as prune does; never this export, its base or a diff',
      }),
    threads: field(wholeNumber(1).max(256).optional(), {
      flag: 'threads',
      value: 'N',
      description: 'most worker threads (default: number of cores); 1 starts none; files stay the same',
    }),
  })
  .superRefine((output, context) => {
    const message = output.latest ? latestProblem(output.dir) : undefined;
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['latest'], input: output.latest, message });
    for (const { path, input, message } of columnIssues(output)) {
      context.addIssue({ code: 'custom', path: [...path], input, message });
    }
  });

/** One or more names, or none of them. */
function lakes() {
  const names = z
    .array(z.enum(['iceberg', 'none']))
    .refine((given) => new Set(given).size < 2, 'must be iceberg or none');
  return z
    .preprocess(
      (value: z.input<typeof names> | 'iceberg' | 'none'): unknown => (Array.isArray(value) ? value : [value]),
      names,
    )
    .default([]);
}

/** Why there is no place for `latest` beside an output folder. */
function latestProblem(dir: string): string | undefined {
  const last = dir.replace(/\/+$/, '').split('/').at(-1) ?? '';
  if (bucketAddressOf(dir)?.path === '')
    return 'must be false when output.dir is a whole bucket: latest.json goes next to a folder';
  if (last === 'latest') return 'must be false when output.dir itself is named latest';
  if (dir.includes('{date}') && !last.includes('{date}'))
    return 'must be false unless {date} is in the last folder of output.dir';
  return undefined;
}

export const csvSchema = z
  .strictObject({
    formulas: field(z.enum(['exact', 'escape']).default('exact'), {
      flag: 'csv-formulas',
      description: "cells that look like formulas: keep them exact, or put a ' in front",
    }),
    dialect: field(z.enum(csvDialectNames).default('rfc4180'), {
      flag: 'csv-dialect',
      description: 'null, empty strings and quotes: RFC 4180, or as that warehouse loads them',
    }),
  })
  .prefault({});

export interface ColumnChoice {
  readonly columns?: readonly string[] | undefined;
  readonly exclude: readonly string[];
  readonly rename: Readonly<Record<string, string>>;
  readonly exportedAt: boolean;
  readonly proofs: boolean;
  readonly tables: readonly string[];
}

/** A mistake in the choice of columns, and where it stands below `output`. */
export interface ColumnIssue {
  readonly path: readonly (string | number)[];
  readonly input: unknown;
  readonly message: string;
}

/** Names that are no column, are given twice, or leave nothing. */
function columnIssues(choice: ColumnChoice): ColumnIssue[] {
  const added = [...(choice.proofs ? proofColumns : []), ...(choice.exportedAt ? [exportedAt] : [])];
  const known = [...assetsTable.columns, ...added].map(({ name }) => name);
  const found: ColumnIssue[] = [];
  for (const list of ['columns', 'exclude'] as const) {
    for (const [index, name] of (choice[list] ?? []).entries()) {
      if (!known.includes(name)) found.push({ path: [list, index], input: name, message: unknownText(name, known) });
      else if (choice[list]?.indexOf(name) !== index) {
        found.push({ path: [list, index], input: name, message: 'must name each column once' });
      }
    }
  }
  for (const name of Object.keys(choice.rename)) {
    if (!known.includes(name)) found.push({ path: ['rename', name], input: name, message: unknownText(name, known) });
  }
  return found.length > 0 ? found : [...proofIssues(choice), ...leftIssues(choice, known)];
}

/** Whoever reads a row is to be able to prove it from its own values. */
function proofIssues({ proofs, columns, exclude, tables }: ColumnChoice): ColumnIssue[] {
  if (!proofs) return [];
  if (!tables.includes(assetsTable.name))
    return [{ path: ['tables'], input: undefined, message: 'must name assets for output.proofs' }];
  const listed = provenColumns.filter((name) => columns?.includes(name) === false);
  const excluded = [...provenColumns, ...proofColumns.map(({ name }) => name)].filter((name) => exclude.includes(name));
  return Object.entries({ columns: listed, exclude: excluded }).flatMap(([path, names]) => {
    const some = `${names.slice(0, 3).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`;
    const message = `must keep ${some} for output.proofs: a row is proven from its own values (see asset-export help proofs)`;
    return names.length === 0 ? [] : [{ path: [path], input: undefined, message }];
  });
}

/** What is wrong with the columns that are left, under their new names. Databases hold names that differ in case alone for one. */
function leftIssues({ columns, exclude, rename, tables }: ColumnChoice, known: readonly string[]): ColumnIssue[] {
  const left = (columns ?? known).filter((name) => !exclude.includes(name));
  if (left.length === 0)
    return [{ path: ['exclude'], input: undefined, message: 'must leave at least one column of assets' }];
  // The names of columns that other parts of the job add.
  const added = [fetchedAt.name, ...(tables.includes(changesTable.name) ? changeColumns : [])];
  const taken = new Map<string, string>(added.map((name) => [name, name]));
  for (const name of left) {
    const key = (rename[name] ?? name).toLowerCase();
    const other = taken.get(key);
    if (other !== undefined) {
      const renamed = rename[name] === undefined ? other : name;
      const message = `must give each column its own name: ${other} and ${name} would be the same`;
      return [{ path: ['rename', renamed], input: rename[renamed], message }];
    }
    taken.set(key, name);
  }
  return [];
}

function unknownText(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined
    ? 'must name columns of assets (see asset-export schema)'
    : `must name columns of assets (did you mean ${near}?)`;
}

/** Whether a job publishes its nights as Iceberg tables. `none` is the same as no name. */
export function hasLake({ output }: { readonly output: { readonly lake: readonly string[] } }): boolean {
  return output.lake.includes('iceberg');
}
