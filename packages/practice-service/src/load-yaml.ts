import { readFile } from 'node:fs/promises';
import { parse, YAMLParseError } from 'yaml';
import type { z } from 'zod';
import { codeOf, ExportError, messageOf } from '../../../src/lib/export-error.ts';

/** Reads a YAML file. @param what the kind of file, for messages. @throws {ExportError} `usage` when it cannot be read */
export async function readYaml(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const why = codeOf(cause) === 'ENOENT' ? 'no such file' : messageOf(cause);
    throw new ExportError('usage', `cannot read the ${what} ${path}: ${why}`, { cause });
  }
}

export interface CheckedYaml<Schema extends z.ZodType> {
  readonly schema: Schema;
  /** Names the file in messages. */
  readonly path: string;
  /** What to say where no member of a union fits. */
  readonly misfit?: string;
}

/** Checks the text of a YAML file. @throws {ExportError} `usage`, with the place of what is wrong */
export function checkYaml<Schema extends z.ZodType>(text: string, check: CheckedYaml<Schema>): z.output<Schema> {
  return checkValue(parseYaml(text, check.path), check);
}

/** Checks what such a file would hold. @throws {ExportError} `usage`, with the place of what is wrong */
export function checkValue<Schema extends z.ZodType>(
  value: unknown,
  { schema, path, misfit }: CheckedYaml<Schema>,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const at = (issue?.path ?? []).map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  const place = at === '' ? '' : ` at ${at.replace(/^\./, '')}`;
  const why = issue?.code === 'invalid_union' && misfit !== undefined ? misfit : (issue?.message ?? '');
  throw new ExportError('usage', `${path}${place}: ${why}`, {
    todo: 'See asset-export help service for all fields.',
  });
}

function parseYaml(text: string, path: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    const line = cause instanceof YAMLParseError ? `:${cause.linePos?.[0].line ?? 1}` : '';
    throw new ExportError('usage', `${path}${line}: ${messageOf(cause).split('\n')[0] ?? ''}`, { cause });
  }
}
