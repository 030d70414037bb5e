import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { z } from 'zod';
import { type AssetFlag, defaultDialect, type ServiceDialect } from '../client/dialects.ts';
import { requireAddress } from '../../lib/addresses/address.ts';
import { addressProblem } from '../../lib/addresses/base-address.ts';
import { codeOf, ExportError, messageOf } from '../../lib/export-error.ts';
import { nearestName } from '../../lib/nearest-name.ts';
import { wholeNumber } from './field.ts';
import { issueText } from './issue-text.ts';
import { dialectNamed, namesOfDialects, isDialectFile, isRead, keepDialect } from './job-dialect.ts';
import { type JobFile, parseJobFile } from './parse-job-file.ts';

const methodName = z.string().regex(/^\w+$/, 'must be a word');
const flags = z.array(z.enum(defaultDialect.flagsOne as [AssetFlag, ...AssetFlag[]]));
const keys = (text: string): number => text.split('{key}').length - 1;

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
    idsPerCall: wholeNumber(1).max(1_000_000),
    creditsPerCall: wholeNumber(0),
    priced: z.strictObject({ source: z.string().min(1), day: z.iso.date() }),
    quota: z.enum(['day', 'month', 'none']),
    spentWords: z.array(z.string().min(3, 'must have three letters or more')),
  })
  .partial()
  .superRefine((file, context) => {
    const refuse = (field: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [field], message, input: undefined });
    };
    if (keys(file.path ?? '') > 1) refuse('path', 'must have {key} at most once');
    if (keys(file.header ?? '') > 1) refuse('header', 'must have {key} once');
    if (keys(file.path ?? '') > 0 && file.header !== undefined)
      refuse('header', 'must be absent where path has {key}: the key goes into one place');
    if (file.creditsPerCall !== undefined && file.priced === undefined)
      refuse('creditsPerCall', 'needs priced: {source, day}, where and when the price was read');
  });

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
  const file = parseJobFile(textOf(path), path, {});
  const parsed = fileSchema.safeParse(file.value, { reportInput: true });
  if (!parsed.success) throw wrongDialect(parsed.error.issues, file);
  const { like, ...given } = parsed.data;
  const own = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const dialect: ServiceDialect = { ...dialectNamed(like ?? defaultDialect.name), ...own, name: basename(path) };
  if (dialect.header === undefined || !dialect.path.includes('{key}')) return dialect;
  throw new ExportError(
    'usage',
    `${file.whereIs(['header'])}: header goes with a path without {key}, and that is ${dialect.path}`,
    {
      todo: 'Give path, too.',
    },
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const why = codeOf(cause) === 'ENOENT' ? 'it does not exist' : messageOf(cause);
    throw new ExportError('usage', `cannot read the dialect ${path}: ${why}`, {
      todo: `Name one of ${namesOfDialects.join(', ')}, or a file (asset-export help dialects).`,
      cause,
    });
  }
}

function wrongDialect(issues: readonly z.core.$ZodIssue[], file: JobFile): ExportError {
  const fields = Object.keys(fileSchema.shape);
  const lines = issues.flatMap((issue): string[] => {
    if (issue.code !== 'unrecognized_keys')
      return [`${file.whereIs(issue.path)}: ${issue.path.join('.')} ${issueText(issue)}`];
    return issue.keys.map((key) => {
      const near = issue.path.length === 0 ? nearestName(key, fields) : undefined;
      const guess = near === undefined ? `; the fields are ${fields.join(', ')}` : `; did you mean ${near}?`;
      return `${file.whereIs([...issue.path, key])}: unknown field "${key}"${guess}`;
    });
  });
  const [only = ''] = lines;
  return new ExportError('usage', lines.length === 1 ? only : `the dialect has errors:\n  ${lines.join('\n  ')}`, {
    todo: 'See asset-export help dialects for every field.',
  });
}
