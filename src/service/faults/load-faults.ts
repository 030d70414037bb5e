import { readFile } from 'node:fs/promises';
import { parse, YAMLParseError } from 'yaml';
import { codeOf, ExportError, messageOf } from '../../lib/export-error.ts';
import { faultSchema, type Faults, faultsSchema } from './fault-schema.ts';

const kinds = faultSchema.options.map((option) => option.shape.fault.value);

/** Reads a fault file. @throws {ExportError} `usage` when it cannot be read, with the place of what is wrong. */
export async function loadFaults(path: string): Promise<Faults> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const why = codeOf(cause) === 'ENOENT' ? 'no such file' : messageOf(cause);
    throw new ExportError('usage', `cannot read the fault file ${path}: ${why}`, { cause });
  }
  return parseFaults(text, path);
}

/** Checks the text of a fault file. @param path names it in messages. @throws {ExportError} `usage`. */
export function parseFaults(text: string, path: string): Faults {
  const result = faultsSchema.safeParse(parseYaml(text, path));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const at = (issue?.path ?? []).map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  const place = at === '' ? '' : ` at ${at.replace(/^\./, '')}`;
  const why =
    issue?.code === 'invalid_union' ? `unknown fault; the faults are ${kinds.join(', ')}` : (issue?.message ?? '');
  throw new ExportError('usage', `${path}${place}: ${why}`, {
    todo: 'See asset-export help service for all faults and fields.',
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
