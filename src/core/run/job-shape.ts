import { isDeepStrictEqual } from 'node:util';
import { hasBase, noBase } from '../job/night-names.ts';
import { type Job, jobSchema } from '../job/job-schema.ts';
import { dialectOf } from '../job/job-dialect.ts';
import { commandLine } from '../../lib/addresses/shown-text.ts';
import { ExportError } from '../../lib/export-error.ts';
import { outcomesToRead } from '../records/id-tables.ts';
import {
  type ExportStart,
  type JobShape,
  keptField,
  limitField,
  sampleField,
} from '../../places/export/export-facts.ts';
import type { Manifest } from '../../places/export/manifest.ts';

/** What `rebuild` took the records from. */
const source = 'rebuilt';

/** The list whose records an export keeps. */
const listed = 'list';

/** What the service of a fleet is asked with. */
const answersField = 'service.answers';

/** Which ids of `unexported/` are read. */
const outcomeField = 'ids.outcome';

/** Whether rows say whether they agree with their hashes. */
const provenField = 'output.proofs';

/** Of an export that was rebuilt: the source, how many of its parts became one, and by what its assets were sorted. */
export function rebuiltShape(seal: string, join: number, sorted?: readonly string[]): JobShape {
  return { [source]: { seal, join, ...(sorted === undefined ? {} : { sorted }) } };
}

/** Of an export that keeps the records of a list: whose members these are. */
export function listShape(by: string, address: string): JobShape {
  return { [listed]: { by, address } };
}

interface Rebuilt {
  readonly seal?: string;
  readonly join?: number;
  readonly sorted?: readonly string[];
}

function rebuiltOf({ [source]: rebuilt }: JobShape): Rebuilt {
  return rebuilt ?? {};
}

/** How many parts of its source became one in an export that was rebuilt; 1 for any other. */
export function joinOf(shape: JobShape): number {
  return rebuiltOf(shape).join ?? 1;
}

/**
 * The fields of a job that decide what an export holds. Others (budget, pace, retries, tolerance, address, threads) may
 * differ from run to run.
 */
export function jobShape(job: Job): JobShape {
  return {
    'ids.format': job.ids.format ?? null,
    'ids.column': job.ids.column ?? null,
    'service.idsPerCall': job.service.idsPerCall,
    'service.flags': job.service.flags,
    'service.singles': job.service.singles,
    'output.formats': job.output.formats,
    'output.tables': job.output.tables,
    'output.columns': job.output.columns ?? null,
    'output.exclude': job.output.exclude,
    'output.rename': job.output.rename,
    'output.exportedAt': job.output.exportedAt,
    'output.rowsPerPart': job.output.rowsPerPart,
    'output.compression': job.output.compression,
    'csv.formulas': job.csv.formulas,
    'csv.dialect': job.csv.dialect,
    ...idsShape(job),
    ...(job.output.proofs ? { [provenField]: true } : {}),
    ...(job.output.keepIds ? { [keptField]: true } : {}),
    ...baseShape(job),
  };
}

/** What stands for fields that few jobs set: their absence in a shape means this. */
const absent: JobShape = {
  [source]: null,
  [listed]: null,
  [limitField]: null,
  [sampleField]: null,
  [outcomeField]: [...outcomesToRead],
  [keptField]: false,
  [provenField]: false,
  'output.nested': false,
};

/**
 * The fields of the job of a fleet. The methods and flags of the dialect are among them: they decide what an answer means. An export
 * that one process makes at a time may be finished with another provider.
 */
export function fleetShape(job: Job): JobShape {
  const { one, many, flagsOne, flagsMany } = dialectOf(job.service.dialect);
  return { ...jobShape(job), [answersField]: { one, many, flagsOne, flagsMany } };
}

/** The same fields in the manifest: a complete export calls nobody, so it is the one that a single process makes. */
export function shapeOfComplete(shape: JobShape): JobShape {
  return Object.fromEntries(Object.entries(shape).filter(([name]) => name !== answersField));
}

function idsShape({ ids: { limit, sample, outcome } }: Job): JobShape {
  return {
    ...(sample === undefined ? {} : { [sampleField]: sample }),
    ...(limit === undefined ? {} : { [limitField]: limit }),
    ...(isDeepStrictEqual(outcome, outcomesToRead) ? {} : { [outcomeField]: outcome }),
  };
}

/** Stands for the path of a base. */
const anyBase = 'export';

/** Where the base lies may differ: an export keeps to the one that it began with. */
function baseShape(job: Job): JobShape {
  if (!hasBase(job)) return {};
  const { from, maxAge, classes, missingAfter, maxCredits, ignore, fetchedAt } = job.base;
  return {
    'base.from': from === noBase ? noBase : anyBase,
    'base.maxAge': maxAge,
    'base.classes': classes,
    'base.missingAfter': missingAfter,
    'base.maxCredits': maxCredits ?? null,
    'base.ignore': ignore,
    'base.fetchedAt': fetchedAt ?? null,
  };
}

/** Stands for a job where none was given: what the files of tables are like is in the manifest. */
export function jobOfNothing(dir: string): Job {
  return jobSchema.parse({ ids: { from: ['-'] }, service: { url: 'embedded:-' }, output: { dir } });
}

/** The job with the fields that the export began with. */
export function jobAsBegun(job: Job, shape: JobShape): Job {
  const begun: Record<string, unknown> = structuredClone(job);
  const fields = [limitField, sampleField, outcomeField, keptField, provenField];
  const before = Object.fromEntries(fields.map((name) => [name, absent[name]]));
  for (const [path, value] of Object.entries({ ...before, ...shape })) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    const parent = names.reduce<Record<string, unknown>>(
      (tree, name) => (tree[name] ??= {}) as Record<string, unknown>,
      begun,
    );
    if (value === null) Reflect.deleteProperty(parent, last);
    else parent[last] = value;
  }
  // The values come from a checked job by way of a manifest, whose seal detects any change.
  return begun as unknown as Job;
}

/** @throws {ExportError} `usage` or `input` when an export began with another job or with other inputs. */
export function requireSame(
  folder: string,
  before: Pick<ExportStart, 'job' | 'inputs'> & Partial<Pick<Manifest, 'files'>>,
  now: Pick<ExportStart, 'job' | 'inputs'>,
): void {
  const old: JobShape = { ...absent, ...before.job };
  for (const [name, value] of Object.entries({ ...absent, ...now.job })) {
    // What one process began tells nothing of the answers: `enqueue` may take it over with any dialect, which then holds.
    if (name === answersField && old[name] === undefined) continue;
    if (name !== keptField && !isDeepStrictEqual(old[name], value)) {
      if (name === source) throw changedSource(folder, rebuiltOf(old), rebuiltOf(now.job));
      if (name === answersField)
        throw changed('usage', name, `${folder} was started with another dialect of the service (--dialect)`);
      if (name === listed)
        throw new ExportError('usage', `${folder} is not the export of this list`, {
          why: { kind: 'changed', changed: name },
          todo: 'ids --records and run do not write into the same folder. Choose another one, or start over with --fresh.',
        });
      const message = `${name} was ${said(old[name])} when ${folder} started, and is ${said(value)} now`;
      throw changed('usage', name, message, rebuildLine(folder, before, now));
    }
  }
  const names = (inputs: ExportStart['inputs']): string => inputs.map((input) => input.name).join(', ');
  if (names(before.inputs) !== names(now.inputs)) {
    throw changed(
      'input',
      'ids.from',
      `the inputs were ${names(before.inputs)} when ${folder} started, and are ${names(now.inputs)} now`,
    );
  }
  for (const [index, input] of now.inputs.entries()) {
    const begun = before.inputs[index];
    if (begun?.sha256 !== input.sha256) {
      throw changed(
        'input',
        input.name,
        `${input.name} changed since ${folder} started: ${begun?.bytes ?? 0} bytes then, ${input.bytes} now`,
      );
    }
  }
}

/** The fields of which `rebuild` makes another export from the records of a complete one, and its flags. */
const rebuildFlags: Readonly<Record<string, string>> = {
  'output.formats': '--format',
  'output.tables': '--tables',
  'output.columns': '--columns',
  'output.exclude': '--exclude',
  [provenField]: '--proofs',
};

/** The command that gives a complete export as the job is now; undefined where more than output differs, or its files lack what that takes. */
function rebuildLine(
  folder: string,
  before: Pick<ExportStart, 'job' | 'inputs'> & Partial<Pick<Manifest, 'files'>>,
  now: Pick<ExportStart, 'job' | 'inputs'>,
): string | undefined {
  const { files = [] } = before;
  const [was, is]: JobShape[] = [
    { ...absent, ...before.job },
    { ...absent, ...now.job },
  ];
  const hasRaw = files.some(({ format }) => format === 'raw');
  const exact = files.filter(({ format }) => format !== 'csv' || was?.['csv.formulas'] !== 'escape');
  const isWhole = was?.['output.columns'] === null && isDeepStrictEqual(was['output.exclude'], []);
  const flags = Object.entries(is ?? {})
    .filter(([name, value]) => name !== keptField && !isDeepStrictEqual(was?.[name], value))
    .map(([name, value]) => {
      const words = Array.isArray(value) ? value.map(String) : [];
      const isGiven =
        value === true || (words.length > 0 && !words.includes('changes') && (hasRaw || !words.includes('raw')));
      const flag = isGiven ? rebuildFlags[name] : undefined;
      return flag === undefined ? undefined : [flag, ...(words.length === 0 ? [] : [words.join(',')])];
    });
  const isSame = isDeepStrictEqual(
    before.inputs.map(({ sha256 }) => sha256),
    now.inputs.map(({ sha256 }) => sha256),
  );
  if (!isSame || !(hasRaw || (isWhole && exact.some(({ table }) => table === 'assets')))) return undefined;
  const given = flags.filter((flag) => flag !== undefined);
  return given.length < flags.length ? undefined : commandLine('rebuild', folder, ...given.flat(), '--out', 'NEW');
}

/** Why a rebuilt export is not the one that began. */
function changedSource(folder: string, before: Rebuilt, now: Rebuilt): ExportError {
  if (before.seal !== now.seal) return changed('input', source, `${folder} was not made from the same records`);
  const order = ({ sorted }: Rebuilt): string => sorted?.join(',') ?? 'absent';
  const [flag, was, is] =
    order(before) === order(now) ? ['--join', before.join ?? 1, now.join ?? 1] : ['--sort', order(before), order(now)];
  return changed('usage', source, `${flag} was ${was} when ${folder} started, and is ${is} now`);
}

/** A value of a field in a message. */
function said(value: unknown): string {
  return value === anyBase ? 'an earlier export' : JSON.stringify(value);
}

/**
 * @param what the field or the file that changed
 * @param rebuild what gives the export as it is to be for no credits
 */
function changed(exit: 'usage' | 'input', what: string, message: string, rebuild?: string): ExportError {
  return new ExportError(exit, message, {
    why: { kind: 'changed', changed: what },
    todo:
      rebuild === undefined
        ? 'Undo the change to resume, choose another output folder, or start over with --fresh.'
        : `It is complete. To write its records anew for no credits: ${rebuild}\nAnother output folder and --fresh request all ids again.`,
  });
}

/** Whether an export refused to go on because its job or its inputs are not those that it began with. */
export function isChange(error: unknown): error is ExportError {
  return error instanceof ExportError && error.why?.kind === 'changed';
}
