import { someIdsOf, embedded, type Job, jobSchema, type PartOfJob } from './job-schema.ts';
import { readSmallText } from '../../lib/disk/on-disk.ts';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { type AddressUse, classifyAddress, requireAddress } from '../../lib/addresses/address.ts';
import { codeOf, ExportError } from '../../lib/export-error.ts';
import { nearestName } from '../../lib/format-text.ts';
import { shownPath, shownWord } from '../../lib/addresses/shown-text.ts';
import { readNamedDialect } from './dialect-file.ts';
import { dialectOf } from './job-dialect.ts';
import { noBase } from './night-names.ts';
import { issueText, type JobFile, parseJobFile, isTree, putAt, valueAt, type Tree } from './parse-job-file.ts';
import { environmentName, jobFields, type JobField, fieldText } from './job-fields.ts';
import { removedWords } from './removed-words.ts';

/** Where a job's fields come from. Precedence: flag, environment, job file or object, default. */
export interface JobSources {
  /** Path of the job file, as the user gave it. */
  readonly file?: string;
  /** A job as an object, with the fields of a job file; not together with `file`. */
  readonly job?: PartOfJob;
  /** Values by flag name without dashes; absent ones were not given. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Environment variables; none unless given. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Where relative paths start (default: the working directory); those of a job file start at its folder. */
  readonly folder?: string;
}

type KnownSources = JobSources & Required<Pick<JobSources, 'flags' | 'environment' | 'folder'>>;

export interface LoadedJob {
  /** Its paths (output folder, key file, embedded records) are absolute. */
  readonly job: Job;
  /** The folder at which relative patterns of `ids.from` start. */
  readonly idsFolder: string;
  /** `output.dir` with its `{date}`. Patterns of `ids.from` skip the files under it. */
  readonly outputDir: string;
}

/** Fields that hold an address, and what kind it is. */
const addressFields: Readonly<Record<string, AddressUse>> = {
  'ids.from': 'ids',
  'output.dir': 'out',
  'base.from': 'base',
  'output.scratch': 'local',
  'service.apiKeyFile': 'local',
  'metrics.file': 'local',
  'service.tls.cert': 'local',
  'service.tls.key': 'local',
  'service.tls.ca': 'local',
};

/** Fields that may hold a path behind a prefix. */
const prefixedFields: Readonly<Record<string, string>> = { 'lineage.url': 'file:', 'service.url': embedded };

/** Reads a job and fills its defaults in. @throws {ExportError} `usage`, with every mistake and where it stands */
export function loadJob(given: JobSources): LoadedJob {
  const { flags = {}, environment = {}, folder = process.cwd() } = given;
  const sources = { ...given, flags, environment, folder };
  requireFlags(sources.flags);
  const file = sources.file === undefined ? undefined : readJobFile(sources);
  const fileFolder = sources.file === undefined ? sources.folder : dirname(resolve(sources.folder, sources.file));
  const origins = new Map<string, string>();
  const raw: Tree = structuredClone(file?.value ?? sources.job ?? {}) as Tree;
  for (const field of jobFields) {
    const override = overrideOf(field, sources);
    if (override === undefined) continue;
    placeField(raw, field, override.value);
    origins.set(field.path, override.origin);
  }
  const wrong = resolveAddresses(raw, (path) => (origins.has(path) ? sources.folder : fileFolder));
  fillFromDialect(raw, origins.has('service.dialect') ? sources.folder : fileFolder);
  const parsed = jobSchema.safeParse(raw, { reportInput: true });
  const issues = [...wrong, ...(parsed.error?.issues ?? [])];
  const todo = Object.keys(raw).length === 0 ? firstSteps : seeHelp;
  if (!parsed.success || wrong.length > 0) throw wrongJob(issues, file, origins, todo);
  const alone = fieldWithoutBase(raw);
  if (alone !== undefined) throw wrongJob([alone], file, origins);
  if (origins.get('output.dir') !== '--out' && limitsNight(parsed.data)) throw wrongJob([limitNeedsOut], file, origins);
  const idsFolder = origins.has('ids.from') ? sources.folder : fileFolder;
  return { job: parsed.data, idsFolder, outputDir: parsed.data.output.dir };
}

/** What a named dialect says holds where the job says nothing. @throws {ExportError} `usage` for one that is none */
function fillFromDialect(raw: Tree, folder: string): void {
  const given = valueAt(raw, 'service.dialect');
  if (typeof given !== 'string' || given === '') return;
  const name = readNamedDialect(given, folder);
  const { url, creditsPerCall } = dialectOf(name);
  putAt(raw, 'service.dialect', name);
  if (valueAt(raw, 'service.url') === undefined && url !== undefined) putAt(raw, 'service.url', url);
  if (valueAt(raw, 'budget.creditsPerCall') === undefined) putAt(raw, 'budget.creditsPerCall', creditsPerCall);
}

/** The first ids alone, in the folder of the night that all ids belong to. */
function limitsNight({ ids, output }: Job): boolean {
  return someIdsOf(ids) !== undefined && output.dir.includes('{date}');
}

const limitNeedsOut: z.core.$ZodIssue = {
  code: 'custom',
  path: ['ids', 'limit'],
  message: 'needs --out DIR, because output.dir with {date} is the folder of the whole export',
  input: undefined,
};

/** Makes paths absolute, except those of ids, whose names are shown as given. Returns the wrong addresses. */
function resolveAddresses(raw: Tree, folderOf: (path: string) => string): z.core.$ZodIssue[] {
  const issues: z.core.$ZodIssue[] = [];
  const resolved = (path: string, text: unknown): unknown => {
    const use = addressFields[path] ?? 'local';
    // The schema complains about an empty path: resolved it would be the folder itself.
    if (typeof text !== 'string' || text === '' || (use === 'base' && text === noBase)) return text;
    const address = classifyAddress(text, use);
    if (use === 'ids') return address.kind === 'wrong' ? text : address.text;
    if (address.kind === 'bucket') return text;
    if (address.kind !== 'wrong') return resolve(folderOf(path), address.text);
    const message = `${address.problem}. ${address.todo}`;
    issues.push({ code: 'custom', path: path.split('.'), message, input: undefined });
    // The schema takes it: a mistake is reported once.
    return resolve(text);
  };
  for (const path of Object.keys(addressFields)) {
    const value = valueAt(raw, path);
    if (value === undefined) continue;
    const all = Array.isArray(value) ? value.map((text: unknown) => resolved(path, text)) : resolved(path, value);
    putAt(raw, path, all);
  }
  for (const [path, prefix] of Object.entries(prefixedFields)) {
    const value = valueAt(raw, path);
    if (typeof value !== 'string' || value.slice(0, prefix.length).toLowerCase() !== prefix) continue;
    const rest = value.slice(prefix.length);
    // `embedded:-` stands for no records at all.
    const isWhole = rest === '-' || (prefix === 'file:' && rest.startsWith('//'));
    if (!isWhole) putAt(raw, path, `${prefix}${String(resolved(path, rest))}`);
  }
  return issues;
}

/** Fields of a base without one would go unheeded, and everything would be requested. */
function fieldWithoutBase({ base }: Tree): z.core.$ZodIssue | undefined {
  const [name] = isTree(base) && base['from'] === undefined ? Object.keys(base) : [];
  if (name === undefined) return undefined;
  const message = 'needs base.from (--base PATH, or --base none)';
  return { code: 'custom', path: ['base', name], message, input: undefined };
}

/** @throws {ExportError} `usage` for a name that is not a flag: its value would be lost without a word */
function requireFlags(flags: Readonly<Record<string, unknown>>): void {
  const names = jobFields.map(({ flag }) => flag);
  const unknown = Object.keys(flags).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const near = nearestName(
    unknown.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    names,
  );
  throw new ExportError('usage', `unknown flag ${unknown}${near === undefined ? '' : `; did you mean ${near}?`}`, {
    todo: removedWords[unknown] ?? 'Write flags as on the command line, but without dashes: ids-per-call.',
  });
}

function readJobFile({ file = '', folder, environment }: KnownSources): JobFile {
  const path = resolve(folder, requireAddress(file, 'local', 'the job file'));
  try {
    return parseJobFile(readSmallText(path), shownPath(path, folder), environment);
  } catch (error) {
    if (error instanceof ExportError) throw error;
    const why =
      codeOf(error) === 'ENOENT' ? 'it does not exist' : codeOf(error) === 'EISDIR' ? 'it is a folder' : String(error);
    throw new ExportError('usage', `cannot read the job file ${shownWord(file)}: ${why}`, {
      todo: 'Check its name, or leave it out and use flags: asset-export help job has the field of each.',
      cause: error,
    });
  }
}

function overrideOf(
  field: JobField,
  { flags, environment, folder }: KnownSources,
): { value: unknown; origin: string } | undefined {
  const name = environmentName(field.flag);
  const text = environment[name];
  const fromEnvironment =
    text === undefined || text === '' ? undefined : { value: fieldText(field, text, folder), origin: name };
  const flag = flags[field.flag];
  if (flag === undefined) return fromEnvironment;
  const value = mergedPairs(field, fromEnvironment?.value, fieldText(field, flag, folder));
  const isBoth = field.kind === 'pairs' && fromEnvironment !== undefined;
  return { value, origin: isBoth ? `--${field.flag} with ${name}` : `--${field.flag}` };
}

function placeField(tree: Tree, field: JobField, value: unknown): void {
  putAt(tree, field.path, mergedPairs(field, valueAt(tree, field.path), value));
}

/** Pairs change the ones that they name and leave the others as they were. */
function mergedPairs({ kind }: JobField, before: unknown, value: unknown): unknown {
  return kind === 'pairs' && isTree(before) && isTree(value) ? { ...before, ...value } : value;
}

/** More mistakes than these are counted, not shown. */
const mostShown = 20;

const seeHelp = 'See asset-export help job for every field, asset-export help flags for every flag.';

/** For who gave no job at all. */
const firstSteps =
  'asset-export init DIR writes a job for your ids; asset-export demo shows a whole run, without a key.';

function wrongJob(
  issues: readonly z.core.$ZodIssue[],
  file: JobFile | undefined,
  origins: ReadonlyMap<string, string>,
  todo = seeHelp,
): ExportError {
  const mistakes = issues.flatMap((issue): Mistake[] =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ issue, key })) : [{ issue, key: undefined }],
  );
  const lines = mistakes.slice(0, mostShown).map((mistake) => mistakeText(mistake, file, origins));
  if (mistakes.length > mostShown) lines.push(`and ${mistakes.length - mostShown} more`);
  const [only = ''] = lines;
  return new ExportError('usage', lines.length === 1 ? only : `the job has errors:\n  ${lines.join('\n  ')}`, {
    todo,
  });
}

interface Mistake {
  readonly issue: z.core.$ZodIssue;
  /** The field that is unknown, where that is the mistake. */
  readonly key: string | undefined;
}

function mistakeText({ issue, key }: Mistake, file: JobFile | undefined, origins: ReadonlyMap<string, string>): string {
  const path = issue.path.map(String).join('.');
  const field = jobFields.find((each) => path === each.path || path.startsWith(`${each.path}.`));
  const origin = origins.get(field?.path ?? path);
  const where = origin ?? file?.whereIs(issue.path) ?? 'job';
  if (key !== undefined && field?.kind === 'pairs') {
    return `${where}: unknown name "${key}"; the names are ${pairNames(field).join(', ')}`;
  }
  if (key !== undefined) return `${file?.whereIs([...issue.path, key]) ?? where}: ${unknownField(path, key)}`;
  // A flag or a variable is its own name; a field of a file has a place and a name.
  const inner = field?.kind === 'pairs' ? path.slice(field.path.length) : '';
  const name = `${origin ?? `${where}: ${field?.path ?? path}`}${inner}`;
  return (
    missing(issue, field?.path === 'notify' ? path : (field?.path ?? path), where) ?? `${name} ${issueText(issue)}`
  );
}

function pairNames(field: JobField): string[] {
  return Object.keys(field.defaultValue ?? {});
}

/** The fields that no default fills. */
const required = ['ids.from', 'service.url', 'output.dir'];

function missing(issue: z.core.$ZodIssue, path: string, where: string): string | undefined {
  if (issue.code !== 'invalid_type' || issue.input !== undefined) return undefined;
  const names = jobFields
    .filter((field) => required.includes(field.path) && (field.path === path || field.path.startsWith(`${path}.`)))
    .map((field) => `${field.path} (or --${field.flag})`);
  return `${where}: ${names.length === 0 ? path : names.join(', ')} is missing`;
}

function unknownField(path: string, key: string): string {
  const prefix = path === '' ? '' : `${path}.`;
  const instead = Object.hasOwn(removedWords, prefix + key) ? removedWords[prefix + key] : undefined;
  if (instead !== undefined) return `unknown field "${prefix}${key}": ${instead}`;
  const names = [
    ...new Set(
      jobFields
        .filter((field) => field.path.startsWith(prefix))
        .map((field) => field.path.slice(prefix.length).split('.')[0] ?? ''),
    ),
  ];
  if (names.length === 0) return `unknown field "${prefix}${key}"`;
  const near = nearestName(key, names);
  const guess = near === undefined ? `; the fields are ${names.join(', ')}` : `; did you mean ${prefix}${near}?`;
  return `unknown field "${prefix}${key}"${guess}`;
}
