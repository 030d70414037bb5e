import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { addressIssue, type AddressUse } from '../../lib/addresses/address.ts';

/** Command line form of a job field. Help, docs and flags are generated from it. */
export interface FieldMeta {
  /** Flag name without dashes. */
  readonly flag: string;
  readonly description: string;
  /** Placeholder of the value in help. */
  readonly value?: string;
}

export function field<T extends z.ZodType>(schema: T, meta: FieldMeta): T {
  return schema.meta({ ...meta });
}

/** One value or a list: job files may omit the brackets, flags may be repeated or contain commas. */
export function oneOrMore<T extends z.ZodType>(item: T) {
  return z.preprocess(
    (value: z.input<T> | readonly z.input<T>[]): unknown => (Array.isArray(value) ? value : [value]),
    z.array(item).min(1),
  );
}

/** The same without repeated values. */
export function distinct<T extends z.ZodType>(item: T) {
  return z.preprocess(
    (value: z.input<T> | readonly z.input<T>[]): unknown =>
      Array.isArray(value) ? [...new Set(value as unknown[])] : [value],
    z.array(item).min(1),
  );
}

/** An address. `loadJob` checks it as it was given, and leaves absolute paths. */
export function address(use: AddressUse) {
  return z
    .string()
    .min(1)
    .superRefine((text, context) => {
      const message = text === '' || isAbsolute(text) ? undefined : addressIssue(text, use);
      if (message !== undefined) context.addIssue({ code: 'custom', message, input: text, params: { hidden: true } });
    });
}

/** A number or a word. Flags and variables give numbers as text. */
export function numberOr<T extends z.ZodType>(schema: T) {
  return z.preprocess(
    (value: z.input<T>): unknown => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value),
    schema,
  );
}

export const wholeNumber = (least: number) => z.int().min(least);
