import { isDeepStrictEqual } from 'node:util';
import type { Job } from '../job/job-schema.ts';
import { ExportError } from '../lib/export-error.ts';
import type { ExportStart } from '../store/checkpoint.ts';
import type { JobShape } from '../store/export-facts.ts';

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
    'output.nested': job.output.nested,
    'output.fetchedAt': job.output.fetchedAt,
    'output.rowsPerPart': job.output.rowsPerPart,
    'output.compression': job.output.compression,
    'csv.formulas': job.csv.formulas,
    'csv.dialect': job.csv.dialect,
  };
}

/** The job with the fields that an export began with, whatever they are now. */
export function jobAsBegun(job: Job, shape: JobShape): Job {
  const begun: Record<string, unknown> = structuredClone(job);
  for (const [path, value] of Object.entries(shape)) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    const parent = names.reduce<Record<string, unknown>>(
      (tree, name) => (tree[name] ??= {}) as Record<string, unknown>,
      begun,
    );
    if (value === null) Reflect.deleteProperty(parent, last);
    else parent[last] = value;
  }
  // The values came from a checked job, through a manifest that tells of any byte that changed.
  return begun as unknown as Job;
}

/** @throws {ExportError} `usage` or `input` when an export began with another job or with other inputs. */
export function requireSame(
  folder: string,
  before: Pick<ExportStart, 'job' | 'inputs'>,
  now: Pick<ExportStart, 'job' | 'inputs'>,
): void {
  for (const [name, value] of Object.entries(now.job)) {
    if (!isDeepStrictEqual(before.job[name], value)) {
      throw changed(
        'usage',
        `${name} was ${JSON.stringify(before.job[name])} when ${folder} began, and is ${JSON.stringify(value)} now`,
      );
    }
  }
  const names = (inputs: ExportStart['inputs']): string => inputs.map((input) => input.name).join(', ');
  if (names(before.inputs) !== names(now.inputs)) {
    throw changed(
      'input',
      `the inputs were ${names(before.inputs)} when ${folder} began, and are ${names(now.inputs)} now`,
    );
  }
  for (const [index, input] of now.inputs.entries()) {
    const old = before.inputs[index];
    if (old?.sha256 !== input.sha256) {
      throw changed(
        'input',
        `${input.name} changed since ${folder} began: ${old?.bytes ?? 0} bytes then, ${input.bytes} now`,
      );
    }
  }
}

function changed(exit: 'usage' | 'input', message: string): ExportError {
  return new ExportError(exit, message, {
    todo: 'Put it back as it was to go on, choose another output folder, or begin anew with --fresh.',
  });
}
