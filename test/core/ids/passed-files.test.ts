import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expandInputs } from '../../../src/core/ids/id-input.ts';
import { listKind } from '../../../src/places/export/export-folder.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function listsFolder(): Promise<string> {
  const folder = await tempFolder();
  for (const name of ['c.txt.ids/.run', 'lake/assets/metadata'])
    await mkdir(join(folder, 'lists', name), { recursive: true });
  const account = `${JSON.stringify({ kind: listKind, members: 1 }, undefined, 2)}\n`;
  const files = {
    'a.txt': '',
    'a.txt.json': account,
    'b.txt.unproven': '',
    'b.txt.unproven.json': account,
    'c.txt.ids/pages.log': '',
    'lake/assets/metadata/v1.metadata.json': '{}',
    'ids.json': '["x"]',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'lists', name), text);
  return folder;
}

describe('a pattern of ids', () => {
  it('passes by what lies beside lists and nights, with a note', async () => {
    const baseDir = await listsFolder();
    const notes: string[] = [];
    const onNote = (note: string): void => void notes.push(note);
    const inputs = await expandInputs({ from: ['lists/**'], baseDir, onNote });
    expect(inputs.map(({ name }) => name)).toEqual(['lists/a.txt', 'lists/ids.json']);
    expect(notes).toEqual([
      'lists/**: 2 files not read, because a list of ids is not proven in them (.unproven)',
      'lists/**: 1 file not read, because a list of ids is being made in it (.ids/)',
      'lists/**: 1 file not read, because the account of a list of ids stands in it (FILE.json)',
      'lists/**: 1 file not read, because the tables of a lake are described in it (lake/TABLE/metadata/)',
    ]);
  });

  it('that matches nothing else is an error', async () => {
    const baseDir = await listsFolder();
    await expect(expandInputs({ from: ['lists/*.unproven'], baseDir })).rejects.toMatchObject({ exit: 'input' });
  });

  it('does not stand for a list that is not proven: its name does, with a warning', async () => {
    const baseDir = await listsFolder();
    const notes: string[] = [];
    const onNote = (note: string): void => void notes.push(note);
    const inputs = await expandInputs({ from: ['lists/b.txt.unproven'], baseDir, onNote });
    expect(inputs.length).toBe(1);
    expect(notes).toEqual(['lists/b.txt.unproven: this list is not proven to be complete']);
  });
});
