import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { numberIn } from '../../lib/format-text.ts';
import type { FieldMeta } from './job-sections.ts';
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

/** Every job field, in the order of the schema: the one source of flags, help, environment variables and docs/cli.md. */
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

/**
 * The value of a field from text, as flags and environment variables give it. Text that does not fit is left as it is,
 * so that the schema says what is wrong with it.
 * @param folder where the relative paths of flags and variables start
 */
export function fieldText(field: JobField, value: unknown, folder: string): unknown {
  if (field.kind === 'pairs') return pairsOf(value);
  if (!field.list) return scalarOf(field, Array.isArray(value) ? (value as unknown[]).at(-1) : value);
  const itemsOf = (text: string): string[] => {
    if (field.path === 'ids.from') return listedFiles(text, folder);
    // An address may hold a comma.
    return field.path === 'notify' ? text.split(/,(?=https?:)/i) : listed(text);
  };
  const items = (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((item) =>
    typeof item === 'string' ? itemsOf(item) : [item],
  );
  return items.map((item) => scalarOf(field, item));
}

function scalarOf(field: JobField, value: unknown): unknown {
  if (typeof value !== 'string') return field.kind === 'string' && typeof value === 'number' ? String(value) : value;
  const text = value.trim();
  if (field.kind === 'number') return numberIn(text) ?? value;
  if (field.kind === 'boolean')
    return /^(true|1|yes)$/i.test(text) ? true : /^(false|0|no)$/i.test(text) ? false : value;
  return value;
}

/** `csv=gzip,jsonl=zstd`, repeated or not, as an object. */
function pairsOf(value: unknown): unknown {
  const items = (Array.isArray(value) ? (value as unknown[]) : [value]).map(String).flatMap((text) => text.split(','));
  return Object.fromEntries(
    items.map((item) => {
      const equals = item.indexOf('=');
      return equals < 0 ? [item.trim(), ''] : [item.slice(0, equals).trim(), item.slice(equals + 1).trim()];
    }),
  );
}

/** The values that one flag names with commas. */
function listed(text: string): string[] {
  return trimmed(text.split(','));
}

/**
 * The files that one flag names with commas, unless a file is called so. Relative paths start at `folder`; commas within
 * the braces of a pattern are its own.
 */
export function listedFiles(text: string, folder: string): string[] {
  if (text !== '' && existsSync(resolve(folder, text))) return [text];
  const items = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '{') depth += 1;
    if (character === '}') depth = Math.max(0, depth - 1);
    if (character === ',' && depth === 0) items.push('');
    else items.push(`${items.pop() ?? ''}${character}`);
  }
  return trimmed(items);
}

function trimmed(items: readonly string[]): string[] {
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Text with a `${NAME}` in it may stand for a number or a boolean. */
const fromEnvironment: JsonSchema = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}' };

/** The JSON Schema of job files, for editors: from the one schema that checks them. */
export function jobJsonSchema(): object {
  const schema = z.toJSONSchema(jobSchema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema instanceof z.ZodPipe) allowOne(zodSchema, jsonSchema);
      if (['integer', 'number', 'boolean'].includes(String(jsonSchema.type))) allowVariable(jsonSchema);
      // What only the command line needs.
      delete jsonSchema['flag'];
      delete jsonSchema['value'];
      delete jsonSchema['inFileOnly'];
    },
  });
  return { ...schema, title: 'A job of asset-export' };
}

/** One value may stand where a list of them does. */
function allowOne(schema: z.ZodPipe, target: JsonSchema): void {
  const list = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
  const { items, minItems } = list;
  if (typeof items !== 'object' || Array.isArray(items)) return;
  delete target.type;
  delete target.items;
  delete target.minItems;
  target.anyOf = [items, { type: 'array', items, ...(minItems === undefined ? {} : { minItems }) }];
}

function allowVariable(target: JsonSchema): void {
  const { type, minimum, maximum, exclusiveMinimum } = target;
  const value = Object.fromEntries(
    Object.entries({ type, minimum, maximum, exclusiveMinimum }).filter(([, each]) => each !== undefined),
  );
  delete target.type;
  delete target.minimum;
  delete target.maximum;
  delete target.exclusiveMinimum;
  target.anyOf = [value, fromEnvironment];
}
