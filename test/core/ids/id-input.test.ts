import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ExpandOptions, expandInputs } from '../../../src/core/ids/id-input.ts';
import { noBytes } from '../../support/run-export.ts';
import { inputError, writeFiles } from './read/id-files.ts';

async function namesOf(options: ExpandOptions): Promise<string[]> {
  return (await expandInputs(options)).map((input) => input.name);
}

describe('expandInputs', () => {
  it('keeps the order given, and sorts what a pattern finds by name', async () => {
    const baseDir = await writeFiles({
      'b.txt': '',
      'a.txt': '',
      'B.txt': '',
      'a10.txt': '',
      'a2.txt': '',
      'c.csv': '',
    });
    mkdirSync(path.join(baseDir, 'deep', 'er'), { recursive: true });
    expect(await namesOf({ from: ['c.csv', '*.txt', 'a.txt'], baseDir })).toEqual([
      'c.csv',
      ...['B.txt', 'a.txt', 'a10.txt', 'a2.txt', 'b.txt'],
      'a.txt',
    ]);
    expect(await namesOf({ from: ['**/*.{csv,json}'], baseDir })).toEqual(['c.csv']);
    expect(await namesOf({ from: [`${baseDir}/a*.txt`], baseDir: '/' })).toEqual([
      path.join(baseDir, 'a.txt'),
      path.join(baseDir, 'a10.txt'),
      path.join(baseDir, 'a2.txt'),
    ]);
  });

  // Promise, Nothing misread: A pattern reads neither the export's own files nor ids kept by another
  it('passes over what lies in the output folder, on any day and behind links, and says so', async () => {
    const baseDir = await writeFiles({ 'a.txt': '' });
    for (const day of ['2026-11-20', '2026-11-21']) {
      mkdirSync(path.join(baseDir, 'out', `night ${day}`, 'unexported'), { recursive: true });
      writeFileSync(path.join(baseDir, 'out', `night ${day}`, 'unexported', 'p.txt'), '');
    }
    mkdirSync(path.join(baseDir, 'out', 'mine'));
    writeFileSync(path.join(baseDir, 'out', 'mine', 'b.txt'), '');
    symlinkSync('night 2026-11-21', path.join(baseDir, 'out', 'latest'));
    const notes: string[] = [];
    const outputDir = path.join(baseDir, 'out', 'night {date}');
    const options = { baseDir, outputDir, onNote: (note: string) => notes.push(note) };
    expect(await namesOf({ ...options, from: ['**/*.txt'] })).toEqual(['a.txt', 'out/mine/b.txt']);
    expect(notes).toEqual([`**/*.txt: 3 files under ${outputDir} not read, because this export is written there`]);
    // What is named is read.
    const named = 'out/night 2026-11-20/unexported/p.txt';
    expect(await namesOf({ ...options, from: [named] })).toEqual([named]);
    expect((await inputError(expandInputs({ ...options, from: ['out/night*/**/*.txt'] }))).message).toContain(
      'matches only 2 files under',
    );
    expect(await namesOf({ ...options, outputDir: path.join(baseDir, 'o'), from: ['**/a.txt'] })).toEqual(['a.txt']);
    const address = 's3://bucket/nights/2026-11-20/unexported/p.csv';
    const findRemote = async () => [
      { address, read: () => noBytes() },
      { address: 's3://bucket/ids/p.csv', read: () => noBytes() },
    ];
    const remote = { baseDir, findRemote, from: ['s3://bucket/**/*.csv'], outputDir: 's3://bucket/nights/{date}' };
    expect(await namesOf(remote)).toEqual(['s3://bucket/ids/p.csv']);
  });

  it('passes over the ids that exports keep, in folder and bucket, unless a file is named', async () => {
    const baseDir = await writeFiles({ 'a.csv.gz': '' });
    const kept = (folder: string) => `${folder}/ids/part-00000.csv.gz`;
    for (const [folder, mark] of Object.entries({ done: 'manifest.json', begun: '.run/lock', mine: 'notes.txt' })) {
      for (const file of [kept(folder), `${folder}/${mark}`]) {
        mkdirSync(path.dirname(path.join(baseDir, file)), { recursive: true });
        writeFileSync(path.join(baseDir, file), '');
      }
    }
    symlinkSync('done', path.join(baseDir, 'latest'));
    const notes: string[] = [];
    const options = { baseDir, onNote: (note: string) => notes.push(note) };
    const why = '(ids/part-NNNNN.csv.gz)';
    expect(await namesOf({ ...options, from: ['**/*.csv.gz'] })).toEqual(['a.csv.gz', kept('mine')]);
    expect(notes).toEqual([`**/*.csv.gz: 3 files not read, because exports keep their ids in them ${why}`]);
    expect(await namesOf({ ...options, from: [kept('done'), kept('begun')] })).toEqual([kept('done'), kept('begun')]);
    const only = await inputError(expandInputs({ ...options, from: ['d*/ids/*'] }));
    expect(only.message).toBe(`d*/ids/* matches only 1 file in which exports keep their ids ${why}`);
    expect(only.todo).toContain('Name');
    const outputDir = path.join(baseDir, 'begun');
    const both = await inputError(expandInputs({ ...options, outputDir, from: ['{done,begun}/ids/*'] }));
    expect(both.message).toContain(
      `matches only 1 file under ${outputDir}, where this export is written, and 1 file in which exports keep their ids`,
    );
    const findRemote = async (address: string) =>
      (address.includes('*') ? ['s3://b/a/ids/part-00000.csv.gz', 's3://b/a/ids/list.gz'] : [address]).map((each) => ({
        address: each,
        read: () => noBytes(),
      }));
    const remote = { ...options, findRemote };
    expect(await namesOf({ ...remote, from: ['s3://b/a/ids/*.gz'] })).toEqual(['s3://b/a/ids/list.gz']);
    expect(notes.at(-1)).toBe(`s3://b/a/ids/*.gz: 1 file not read, because exports keep their ids in it ${why}`);
    const none = expandInputs({ ...options, findRemote: async () => [], from: ['s3://b/x/*'] });
    expect((await inputError(none)).message).toBe('no object matches s3://b/x/*');
    const named = 's3://b/a/ids/part-00000.csv.gz';
    expect(await namesOf({ ...remote, from: [named] })).toEqual([named]);
  });

  it('tells format and compression by the endings, in capitals too', async () => {
    const expected: Readonly<Record<string, string>> = {
      'ids.txt': 'lines none',
      ids: 'lines none',
      'ids.gz': 'lines gzip',
      'ids.2024.log': 'lines none',
      'IDS.CSV': 'csv none',
      'ids.tsv.gz': 'csv gzip',
      'hashlist.json.gz': 'json gzip',
      'HashList.JSON.ZST': 'json zstd',
      'ids.ndjson': 'jsonl none',
      'ids.jsonl.zstd': 'jsonl zstd',
      'ids.parquet': 'parquet none',
      json: 'lines none',
    };
    const names = Object.keys(expected);
    const baseDir = await writeFiles(Object.fromEntries(names.map((name) => [name, ''])));
    const inputs = await expandInputs({ from: names, baseDir });
    const found = inputs.map(({ name, format, compression }) => [name, `${format} ${compression}`]);
    expect(Object.fromEntries(found)).toEqual(expected);
    expect(inputs.every((input) => input.path === path.join(baseDir, input.name))).toBe(true);
    const forced = await expandInputs({ from: ['ids.gz'], baseDir, format: 'jsonl' });
    expect(forced[0]).toMatchObject({ format: 'jsonl', compression: 'gzip' });
  });

  it('takes a file that is really called like a pattern', async () => {
    const baseDir = await writeFiles({ 'ids[1].txt': '', 'ids1.txt': '' });
    expect(await namesOf({ from: ['ids[1].txt'], baseDir })).toEqual(['ids[1].txt']);
    expect(await namesOf({ from: ['ids[0-9].txt'], baseDir })).toEqual(['ids1.txt']);
  });

  it('reads stdin from where the caller put it, and tells by its first bytes what it is', async () => {
    const contents: readonly (readonly [string | Uint8Array, string])[] = [
      ['', 'lines none'],
      ['abc\n', 'lines none'],
      ['id,name\n', 'lines none'],
      ['\uFEFF\n ["abc"]', 'json none'],
      ['{"id":"abc"}\n', 'jsonl none'],
      ['PAR1....PAR1', 'parquet none'],
      [gzipSync('abc'), 'lines gzip'],
      [Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0), 'lines zstd'],
    ];
    for (const [content, expected] of contents) {
      const stdinPath = path.join(await writeFiles({ stdin: content }), 'stdin');
      const [input] = await expandInputs({ from: ['-'], baseDir: '/', stdinPath });
      expect(input).toMatchObject({ name: '-', path: stdinPath });
      expect(`${input?.format ?? ''} ${input?.compression ?? ''}`).toBe(expected);
      const [forced] = await expandInputs({ from: ['-'], baseDir: '/', stdinPath, format: 'csv' });
      expect(forced?.format).toBe('csv');
    }
    await inputError(expandInputs({ from: ['-'], baseDir: '/' }));
    await inputError(expandInputs({ from: ['-'], baseDir: '/', stdinPath: '/nowhere/stdin' }));
  });

  it('refuses a missing file, a folder, a pattern without matches, a device and an empty list', async () => {
    const baseDir = await writeFiles({ 'ids.txt': '' });
    mkdirSync(path.join(baseDir, 'folder'));
    const cases: readonly (readonly [string, string])[] = [
      ['no.txt', `no.txt: no such file (in ${baseDir})`],
      ['ids.txt/x', `ids.txt/x: no such file (in ${baseDir})`],
      ['folder', 'folder is a folder, not a file of ids'],
      ['*.csv', `no file matches *.csv (in ${baseDir})`],
      ['/dev/null', '/dev/null is not a regular file: it can be read only once'],
    ];
    for (const [name, message] of cases) {
      const error = await inputError(expandInputs({ from: ['ids.txt', name], baseDir }));
      expect(error.message).toBe(message);
      expect(error.todo).toBeDefined();
    }
    mkdirSync(path.join(baseDir, 'mints.txt.ids'));
    const { todo } = await inputError(expandInputs({ from: ['mints.txt.ids'], baseDir }));
    expect(todo).toBe('It holds pages of an unfinished list. Complete the list: run the same ids command again.');
    await expect(expandInputs({ from: [], baseDir })).rejects.toMatchObject({ exit: 'input' });
  });
});
