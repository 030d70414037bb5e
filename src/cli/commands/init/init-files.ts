import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { takesKey } from '../../../core/client/dialects.ts';
import { dialectOf, isDialectFile } from '../../../core/job/job-dialect.ts';
import { type JobField, jobFields, fieldText } from '../../../core/job/job-fields.ts';
import { expandInputs } from '../../../core/ids/id-input.ts';
import { lookAtList } from '../../../core/ids/read/look-at-list.ts';
import { isBucketAddress } from '../../../lib/addresses/address-kinds.ts';
import { jobJsonSchema } from '../../../core/job/job-json-schema.ts';
import { embedded, isEmbedded, type Job } from '../../../core/job/job-schema.ts';
import { jobTemplate, suggestedFields } from '../../../core/job/job-template.ts';
import { loadJob } from '../../../core/job/load-job.ts';
import { type AddressUse, classifyAddress } from '../../../lib/addresses/address.ts';
import { codeOf, ExportError, messageOf } from '../../../lib/export-error.ts';
import { packageRoot } from '../../../lib/packages/package-root.ts';

export const jobFile = 'job.yaml';
export const keyFile = 'secrets/service-key';

/** What a new job file is made of. */
export interface NewJob {
  /** The job of `jobs/` that it is a copy of. */
  readonly example?: string | undefined;
  readonly folder: string;
  /** Where relative paths of flags start. */
  readonly workingFolder: string;
  /** Values by flag, as the command line or an answer gave them. */
  readonly flags: Readonly<Record<string, unknown>>;
}

export interface NewFile {
  readonly name: string;
  readonly text: string;
  readonly mode: number;
}

/** The files of a new job. @throws {ExportError} `usage` for a value that a job cannot have */
export function initFiles(job: NewJob, key: string): NewFile[] {
  const settled = settledFields(job);
  const values = new Map<string, unknown>();
  for (const field of jobFields) {
    const value = job.flags[field.flag];
    if (value !== undefined) values.set(field.path, fromFolder(job, field, fieldText(field, value, job.workingFolder)));
  }
  const [top = ''] = String(values.get('output.dir') ?? suggestedFields['output.dir']).split('/');
  const ignored = [`/${dirname(keyFile)}/`, ...(top === '' || top.startsWith('.') ? [] : [`/${top}/`])];
  return [
    {
      name: jobFile,
      text: job.example === undefined ? jobTemplate(values, settled) : exampleJob(job.example, values),
      mode: 0o666,
    },
    { name: 'job.schema.json', text: `${JSON.stringify(jobJsonSchema(), undefined, 2)}\n`, mode: 0o666 },
    { name: '.gitignore', text: `${ignored.join('\n')}\n`, mode: 0o666 },
    ...(job.flags['api-key-file'] === undefined && !settled.has('service.apiKeyFile')
      ? [{ name: keyFile, text: key === '' ? '' : `${key}\n`, mode: 0o600 }]
      : []),
  ];
}

/** The jobs of `jobs/` for services. Their paths start at the folder above. */
export const exampleJobs = ['nightly', 'backfill', 'spreadsheet'] as const;

/** A job of `jobs/` for a folder of its own. @param values by path, in place of its own */
function exampleJob(name: string, values: ReadonlyMap<string, unknown>): string {
  const text = readFileSync(new URL(`jobs/${name}.yaml`, packageRoot), 'utf8');
  const document = parseDocument(text.replaceAll(`jobs/${name}.yaml`, jobFile).replaceAll('../', ''));
  for (const [path, value] of new Map([['service.apiKeyFile', keyFile], ...values]))
    document.setIn(path.split('.'), value);
  return document.toString({ lineWidth: 0 });
}

/** Suggested fields that are not needed, because the named dialect has the address, or takes no key. @throws {ExportError} `usage` */
export function settledFields(job: NewJob): ReadonlySet<string> {
  const { dialect: name } = requireJob(job).service;
  if (name === undefined) return new Set();
  const dialect = dialectOf(name);
  return new Set([
    ...(dialect.url === undefined ? [] : ['service.url']),
    ...(takesKey(dialect) ? [] : ['service.apiKeyFile']),
  ]);
}

/** Checks the values as `run` would. @throws {ExportError} `usage` */
export function requireJob({ workingFolder, flags }: NewJob): Job {
  const standIns = Object.fromEntries(
    jobFields.flatMap(({ flag, path }) => (path in suggestedFields ? [[flag, suggestedFields[path]]] : [])),
  );
  return loadJob({ flags: { ...standIns, ...flags }, environment: {}, folder: workingFolder }).job;
}

/**
 * Looks at the lists of ids as `run` would, where they are there already.
 * @throws {ExportError} `input` for what is no list of ids, or one with several columns of ids (facts.columns)
 */
export async function requireLists(job: NewJob): Promise<void> {
  if (job.flags['ids'] === undefined) return;
  const { ids } = requireJob(job);
  if (ids.from.some((from) => from === '-' || isBucketAddress(from))) return;
  const inputs = await expandInputs({ ...ids, baseDir: job.workingFolder }).catch(() => []);
  for (const input of inputs) await lookAtList(input, ids);
}

/** Writes a file unless one of its name exists; false if so. @throws {ExportError} `cannotWrite` */
export function writeNewFile(folder: string, { name, text, mode }: NewFile): boolean {
  const path = join(folder, name);
  try {
    mkdirSync(dirname(path), { recursive: true, ...(mode === 0o600 ? { mode: 0o700 } : {}) });
    writeFileSync(path, text, { mode, flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw new ExportError('cannotWrite', `cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** A value whose relative paths start at the job file's folder. */
function fromFolder({ folder, workingFolder }: NewJob, { path }: JobField, value: unknown): unknown {
  const moved = (text: unknown, use: AddressUse): unknown => {
    if (typeof text !== 'string' || text.startsWith('~/')) return text;
    const address = classifyAddress(text, use);
    return address.kind !== 'path' || isAbsolute(address.text)
      ? text
      : relative(folder, resolve(workingFolder, address.text));
  };
  if (path === 'ids.from') return Array.isArray(value) ? value.map((text) => moved(text, 'ids')) : value;
  if (path === 'output.dir') return moved(value, 'out');
  if (path === 'service.apiKeyFile') return moved(value, 'local');
  if (path === 'service.dialect') return isDialectFile(String(value)) ? moved(value, 'local') : value;
  if (path !== 'service.url' || typeof value !== 'string' || !isEmbedded(value)) return value;
  return `${embedded}${String(moved(value.slice(embedded.length), 'local'))}`;
}
