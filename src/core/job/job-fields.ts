import { z } from 'zod';
import type { FieldMeta } from './field.ts';
import { jobSchema } from './job-schema.ts';

/** A leaf of the job schema: its path in a job file, its flag, and what it takes. */
export interface JobField extends FieldMeta {
  /** `service.idsPerCall` */
  readonly path: string;
  readonly kind: 'boolean' | 'number' | 'string' | 'pairs';
  readonly list: boolean;
  readonly choices: readonly string[] | undefined;
  readonly defaultValue: unknown;
}

/** Every job field, in the order of the schema: the one source of flags, help, environment variables and docs/job.md. */
export const jobFields: readonly JobField[] = fieldsOf(jobSchema, []);

/** The environment variable of a flag: `--ids-per-call` is `ASSET_EXPORT_IDS_PER_CALL`. */
export function environmentName(flag: string): string {
  return `ASSET_EXPORT_${flag.replaceAll('-', '_').toUpperCase()}`;
}

function fieldsOf(schema: z.ZodType, path: readonly string[]): JobField[] {
  const meta = schema.meta() as Partial<FieldMeta> | undefined;
  if (meta?.flag !== undefined && meta.description !== undefined) {
    return [{ ...(meta as FieldMeta), path: path.join('.'), ...shapeOf(schema) }];
  }
  if ((meta as { inFileOnly?: boolean } | undefined)?.inFileOnly === true) return [];
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodObject)) throw new Error(`job field ${path.join('.')} has no flag`);
  return Object.entries(inner.shape as Record<string, z.ZodType>).flatMap(([name, child]) =>
    fieldsOf(child, [...path, name]),
  );
}

function shapeOf(schema: z.ZodType): Pick<JobField, 'kind' | 'list' | 'choices' | 'defaultValue'> {
  const inner = unwrapped(schema);
  const out = inner instanceof z.ZodPipe ? inner.out : inner;
  const list = out instanceof z.ZodArray;
  const item = list ? out.element : out;
  const absent = schema.safeParse(undefined);
  return {
    kind: list && kindOf(item) === 'pairs' ? 'string' : kindOf(item),
    list,
    choices: item instanceof z.ZodEnum ? item.options.map(String) : undefined,
    defaultValue: absent.success ? absent.data : undefined,
  };
}

function kindOf(schema: unknown): JobField['kind'] {
  if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) return 'pairs';
  if (schema instanceof z.ZodBoolean) return 'boolean';
  return schema instanceof z.ZodNumber ? 'number' : 'string';
}

function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return unwrapped(schema.unwrap() as z.ZodType);
  }
  return schema;
}
