import { z } from 'zod';

/** What the command line makes of a job field. Kept beside the field: help, documents and flags are made from it. */
export interface FieldMeta {
  /** Flag name without dashes. */
  readonly flag: string;
  readonly description: string;
  /** What the flag's value is called in help. */
  readonly value?: string;
}

export function field<T extends z.ZodType>(schema: T, meta: FieldMeta): T {
  return schema.meta({ ...meta });
}

/** One value or several: job files may leave the brackets away, flags may be repeated or hold commas. */
export function oneOrMore<T extends z.ZodType>(item: T) {
  return z.preprocess((value: unknown): unknown => (Array.isArray(value) ? value : [value]), z.array(item).min(1));
}

/** The same, each value once: a format or a table named twice is still one. */
export function distinct<T extends z.ZodType>(item: T) {
  return z.preprocess(
    (value: unknown): unknown => (Array.isArray(value) ? [...new Set(value as unknown[])] : [value]),
    z.array(item).min(1),
  );
}

export const count = (least: number) => z.int().min(least);
