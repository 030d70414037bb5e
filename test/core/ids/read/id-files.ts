import path from 'node:path';
import bs58 from 'bs58';
import { writeFile } from 'node:fs/promises';
import { ExportError } from '../../../../src/lib/export-error.ts';
import type { EntryBlock, IdEntry } from '../../../../src/core/ids/entries.ts';
import { type IdFormat, expandInputs, type IdInput } from '../../../../src/core/ids/id-input.ts';
import { readIds, type ReadIdsOptions } from '../../../../src/core/ids/read/read-ids.ts';
import { entriesIn } from '../entries.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

/** The id whose 32 bytes are made from a number. */
export function idOf(number: number): string {
  const bytes = new Uint8Array(32).fill(1);
  const view = new DataView(bytes.buffer);
  view.setUint32(4, Math.imul(number, 0x9e3779b1));
  view.setUint32(12, number);
  return bs58.encode(bytes);
}

export interface FileOptions extends ReadIdsOptions {
  readonly format?: IdFormat;
}

/** Writes files of ids into a folder of the running test, by name. */
export async function writeFiles(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = await tempFolder();
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
  return folder;
}

/** Writes one file and finds it as an input. */
export async function writeInput(name: string, content: string | Uint8Array, format?: IdFormat): Promise<IdInput> {
  const folder = await writeFiles({ [name]: content });
  const [input] = await expandInputs({ from: [name], format, baseDir: folder });
  if (input === undefined) throw new Error(`${name} was not found again`);
  return input;
}

/** Writes one file and reads its entries. */
export async function readFile(
  name: string,
  content: string | Uint8Array,
  { format, ...options }: FileOptions = {},
): Promise<IdEntry[]> {
  return collect(readIds([await writeInput(name, content, format)], options));
}

export async function collect(blocks: AsyncIterable<EntryBlock>): Promise<IdEntry[]> {
  const entries: IdEntry[] = [];
  for await (const block of blocks) entries.push(...entriesIn(block.entries));
  return entries;
}

/** Entries as `line text` when valid, `line !text: reason` when not: short enough to compare whole. */
export function brief(entries: readonly IdEntry[]): string[] {
  return entries.map(({ text, line, state, reason }) =>
    state === 'invalid' ? `${line} !${text}: ${reason}` : `${line} ${text}`,
  );
}

/** Waits for an error that tells the user that an input cannot be used, and gives it. */
export async function inputError(reading: Promise<unknown>): Promise<ExportError> {
  try {
    await reading;
  } catch (error) {
    if (error instanceof ExportError && error.exit === 'input') return error;
    throw error;
  }
  throw new Error('the input was read without an error');
}
