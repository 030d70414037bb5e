import { readSmallText } from '../../lib/disk/on-disk.ts';
import { basename, resolve } from 'node:path';
import { z } from 'zod';
import { type AssetFlag, defaultDialect, type DialectLists, type ServiceDialect } from '../client/dialects.ts';
import { requireAddress } from '../../lib/addresses/address.ts';
import { addressProblem } from '../../lib/addresses/address-kinds.ts';
import { codeOf, ExportError, messageOf } from '../../lib/export-error.ts';
import { nearestName } from '../../lib/format-text.ts';
import { wholeNumber } from './job-sections.ts';
import { issueText, type JobFile, parseJobFile } from './parse-job-file.ts';
import { dialectNamed, namesOfDialects, isDialectFile, isRead, keepDialect } from './job-dialect.ts';

const methodName = z.string().regex(/^\w+$/, 'must be a word');
const flags = z.array(z.enum(defaultDialect.flagsOne as [AssetFlag, ...AssetFlag[]]));
/** A field that `none` leaves out; null is then its value. */
function orNone<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === 'none' ? null : value), schema.nullable());
}

const sortSchema = z.strictObject({ sortBy: methodName, sortDirection: z.enum(['asc', 'desc']) });

/** How lists are requested, where it differs from the known dialect. The price of a page is nobody else's. */
const listSchema = z
  .strictObject({
    collection: orNone(methodName),
    owner: orNone(methodName),
    creator: orNone(methodName),
    authority: orNone(methodName),
    tree: orNone(methodName),
    sort: orNone(sortSchema),
    next: z.enum(['after', 'cursor', 'page']),
    limit: wholeNumber(100).max(1_000_000),
    total: z.enum(['getGrouping', 'showGrandTotal', 'none']),
    totalCounts: z.enum(['rows']),
    ends: z.enum(['token']),
    flags,
    flagsOwner: flags,
    creditsPerPage: wholeNumber(0),
  })
  .partial();

const pricedSchema = z.strictObject({ source: z.string().min(1), day: z.iso.date() });

/** What a file says of a dialect: what differs from a known one. */
const fileSchema = z
  .strictObject({
    like: z.enum(namesOfDialects as [string, ...string[]]).default(defaultDialect.name),
    url: z.string().refine((url) => addressProblem(url, '/') === undefined, 'must be a base address'),
    path: z.string().regex(/^\/[^#\s]*$/, 'must begin with / and have no # or blank'),
    header: z.string().regex(/^[\w-]+: *[^\r\n]*\{key\}[^\r\n]*$/, 'must be NAME: {key}'),
    one: methodName,
    many: methodName,
    params: z.enum(['positional', 'named']),
    options: methodName,
    flagsOne: flags,
    flagsMany: flags,
    ignored: z.array(methodName),
    idsPerCall: wholeNumber(1).max(1_000_000),
    creditsPerCall: wholeNumber(0),
    priced: pricedSchema,
    quota: z.enum(['day', 'month', 'none']),
    spentWords: z.array(z.string().min(3)),
    list: orNone(listSchema),
  })
  .partial()
  .superRefine((file, context) => {
    for (const [field, message] of [...keyProblems(file), ...priceProblems(file), ...listProblems(file)])
      context.addIssue({ code: 'custom', path: field.split('.'), message, input: undefined });
  });

type GivenDialect = z.output<typeof fileSchema>;
type Problem = readonly [field: string, message: string];

const keys = (text = ''): number => text.split('{key}').length - 1;

/** Headers that the client sends itself. */
const ownHeaders = /^(accept|accept-encoding|connection|content-(length|type|encoding)|host|transfer-encoding):/i;

function* keyProblems(file: GivenDialect): Generator<Problem> {
  if (keys(file.path) > 1) yield ['path', 'must have {key} at most once'];
  else if (file.path !== undefined && !hasRoomForKey(file.path))
    yield ['path', 'must have {key} as a whole segment or as the whole value of a query, and no other braces'];
  if (keys(file.header) > 1) yield ['header', 'must have {key} once'];
  if (ownHeaders.test(file.header ?? ''))
    yield ['header', 'must be another one: every request has this header already'];
  const { header, path } = dialectFrom(file);
  if (header === undefined || keys(path) === 0) return;
  if (file.header === undefined) yield ['path', `must have no {key}: ${file.like} sends it in a header`];
  else if (file.path === undefined)
    yield ['header', `goes with a path without {key}, and that is ${path}: give path, too`];
  else yield ['header', 'must be absent where path has {key}: the key goes into one place'];
}

function hasRoomForKey(path: string): boolean {
  const [route = '', query = ''] = path.split('?');
  const rest = [route.replace(/\/\{key\}(?=\/|$)/, '/'), query.replace(/=\{key\}(?=&|$)/, '=')];
  return !/[{}]/.test(rest.join(''));
}

function* priceProblems({ creditsPerCall, list, priced }: GivenDialect): Generator<Problem> {
  const needs = 'needs priced: {source, day}, where and when the price was read';
  if (creditsPerCall !== undefined && priced === undefined) yield ['creditsPerCall', needs];
  if (!list) return;
  if (list.creditsPerPage === undefined) yield ['list.creditsPerPage', 'is missing: the price of a page'];
  else if (priced === undefined) yield ['list.creditsPerPage', needs];
}

function* listProblems(file: GivenDialect): Generator<Problem> {
  const { list, params } = dialectFrom(file);
  if (list === undefined) return;
  if (list.ends === 'token' && list.next !== 'cursor') yield ['list.ends', 'goes with next: cursor'];
  if (list.totalCounts === 'rows' && list.total === 'none') yield ['list.totalCounts', 'goes with a total'];
  if (params === 'named') return;
  const named = 'goes with params: named: positional parameters have no place for it';
  if (list.next === 'cursor') yield ['list.next', `cursor ${named}`];
  if (list.total === 'showGrandTotal') yield ['list.total', `showGrandTotal ${named}`];
  if (list.flags.length > 0) yield ['list.flags', named];
  if (list.flagsOwner.length > 0) yield ['list.flagsOwner', named];
}

/** The dialect of a file that was checked. */
function dialectFrom({ like, list, ...given }: GivenDialect): Omit<ServiceDialect, 'name'> {
  const known = dialectNamed(like ?? defaultDialect.name);
  // A page costs what a call for as many ids does, where only that price is given.
  const { creditsPerCall: creditsPerPage } = given;
  return { ...known, ...stated(given), list: listFrom(known.list, list === undefined ? { creditsPerPage } : list) };
}

/**
 * Proofs rest on what a source states of a service: it is no word about another one, and is stated again or not at all.
 */
function listFrom(known: DialectLists, given: z.output<typeof listSchema> | null): DialectLists | undefined {
  if (given === null) return undefined;
  const { flags: flagsOwner = known.flagsOwner } = given;
  return { ...known, totalCounts: undefined, ends: undefined, flagsOwner, ...stated(given) };
}

/** The fields that a file has, without those that it leaves out by `none`. */
function stated<Given extends object>(
  given: Given,
): { [Name in keyof Given]?: Exclude<Given[Name], null | undefined> } {
  const fields = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields.map(([name, value]) => [name, value ?? undefined])) as never;
}

/**
 * What `dialectOf` takes for a dialect as it was given: its name, or the absolute path of its file, which is read here.
 * @param folder where relative paths start
 * @throws {ExportError} `usage` with every mistake and its place, and the nearest name
 */
export function readNamedDialect(given: string, folder: string): string {
  if (!isDialectFile(given)) return given;
  const path = resolve(folder, requireAddress(given, 'local', 'the dialect'));
  if (!isRead(path)) keepDialect(path, readDialect(path));
  return path;
}

function readDialect(path: string): ServiceDialect {
  const todo = 'See asset-export help dialects for every field.';
  const file = parseJobFile(textOf(path), path, {}, { is: 'a dialect', fields: 'like, path, many', todo });
  const parsed = fileSchema.safeParse(file.value, { reportInput: true });
  if (!parsed.success) throw wrongDialect(parsed.error.issues, file);
  return { ...dialectFrom(parsed.data), name: basename(path) };
}

function textOf(path: string): string {
  try {
    return readSmallText(path);
  } catch (cause) {
    const why = whyUnread(cause);
    throw new ExportError('usage', `cannot read the dialect ${path}: ${why}`, {
      todo: `Name one of ${namesOfDialects.join(', ')}, or a file (asset-export help dialects).`,
      cause,
    });
  }
}

function whyUnread(cause: unknown): string {
  if (codeOf(cause) === 'ENOENT') return 'it does not exist';
  return codeOf(cause) === 'EISDIR' ? 'it is a folder' : messageOf(cause);
}

/** By the path of each group of fields. */
const groups: Readonly<Record<string, { readonly shape: object }>> = {
  '': fileSchema,
  priced: pricedSchema,
  list: listSchema,
  'list.sort': sortSchema,
};

function wrongDialect(issues: readonly z.core.$ZodIssue[], file: JobFile): ExportError {
  const lines = issues.flatMap((issue): string[] => {
    if (issue.code !== 'unrecognized_keys')
      return [`${file.whereIs(issue.path)}: ${issue.path.join('.')} ${issueText(issue)}`];
    const fields = Object.keys(groups[issue.path.join('.')]?.shape ?? {});
    return issue.keys.map((key) => {
      const near = nearestName(key, fields);
      const guess = near === undefined ? `; the fields are ${fields.join(', ')}` : `; did you mean ${near}?`;
      return `${file.whereIs([...issue.path, key])}: unknown field "${[...issue.path, key].join('.')}"${guess}`;
    });
  });
  const [only = ''] = lines;
  return new ExportError('usage', lines.length === 1 ? only : `the dialect has errors:\n  ${lines.join('\n  ')}`, {
    todo: 'See asset-export help dialects for every field.',
  });
}
