import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import bs58 from 'bs58';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dataFolder = `${root}data/`;
const made = ['README.md', 'assets.jsonl.gz', 'hashlist.json', 'ids.txt', 'mints.csv', 'more-ids.jsonl.gz'];
const readme = readFileSync(`${dataFolder}README.md`, 'utf8');

function jsonLines(name: string): { readonly id: string; readonly interface?: string }[] {
  const lines = gunzipSync(readFileSync(dataFolder + name))
    .toString('utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as { id: string });
}

/** The texts that stand where ids are expected, cleaned as the contract says. */
const idsIn: Readonly<Record<string, () => readonly string[]>> = {
  'ids.txt': () => {
    const lines = readFileSync(`${dataFolder}ids.txt`, 'utf8').split('\n');
    return lines
      .map((line) => line.replace(/[\s"\u200b\ufeff]*$|^[\s"\u200b\ufeff]*/g, ''))
      .filter((line) => line !== '');
  },
  'hashlist.json': () => JSON.parse(readFileSync(`${dataFolder}hashlist.json`, 'utf8')) as string[],
  'mints.csv': () => {
    const rows: { mint: string }[] = parse(readFileSync(`${dataFolder}mints.csv`), { columns: true });
    return rows.map(({ mint }) => mint);
  },
  'more-ids.jsonl.gz': () => jsonLines('more-ids.jsonl.gz').map(({ id }) => id),
};

function isKey(text: string): boolean {
  return bs58.decodeUnsafe(text)?.length === 32;
}

/** Read, valid, invalid, duplicate, found and missing of each file, read in this order. */
function countAll(known: ReadonlySet<string>): { counts: Map<string, number[]>; seen: ReadonlySet<string> } {
  const counts = new Map<string, number[]>();
  const seen = new Set<string>();
  for (const [name, read] of Object.entries(idsIn)) {
    const texts = read();
    const keys = texts.filter(isKey);
    const fresh = keys.filter((id) => !seen.has(id) && seen.add(id));
    const found = fresh.filter((id) => known.has(id)).length;
    const [invalid, duplicate] = [texts.length - keys.length, keys.length - fresh.length];
    counts.set(name, [texts.length, fresh.length, invalid, duplicate, found, fresh.length - found]);
  }
  return { counts, seen };
}

/** The numbers of a row of the README's tables. */
function readmeRow(name: string): number[] {
  const rows = readme.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const row = rows.find(([, first]) => first === name) ?? [];
  return row.slice(2, -1).map((cell) => Number(cell.replaceAll(',', '')));
}

describe('the sample data', () => {
  const known = new Set(jsonLines('assets.jsonl.gz').map(({ id }) => id));
  const { counts, seen } = countAll(known);

  test.each(Object.keys(idsIn))('%s holds what the README counts', (name) => {
    expect(readmeRow(`\`${name}\``)).toEqual(counts.get(name));
    expect(Math.min(...(counts.get(name) ?? []))).toBeGreaterThan(0);
  });

  test('names every record once over all files, and the README sums up', () => {
    expect(known.size).toBe(3000);
    expect([...known].filter((id) => !seen.has(id))).toEqual([]);
    const total = (index: number): number => [...counts.values()].reduce((sum, row) => sum + (row[index] ?? 0), 0);
    expect(readmeRow('all')).toEqual([0, 1, 2, 3, 4, 5].map(total));
  });

  test('has the records of each interface that the README counts', () => {
    const names = jsonLines('assets.jsonl.gz').map((record) => record.interface ?? '');
    for (const name of new Set(names)) {
      expect(readmeRow(`\`${name}\``)).toEqual([names.filter((each) => each === name).length]);
    }
  });

  test('comes with the untidiness that it is to show', () => {
    const text = readFileSync(`${dataFolder}ids.txt`, 'utf8');
    for (const untidy of [/^\ufeff/, /\w\r\n/, /\n\n/, /\n {2}\w/, /\n"\w+"/, /\u200b/, /\n1{32}\n/])
      expect(text).toMatch(untidy);
    const invalid = Object.values(idsIn).flatMap((read) => read().filter((id) => !isKey(id)));
    const lengths = new Set(invalid.map((id) => bs58.decodeUnsafe(id)?.length));
    expect(lengths).toContain(31);
    expect(lengths).toContain(33);
    for (const letter of ['0', 'O', 'I', 'l', ' ']) expect(invalid.some((id) => id.includes(letter))).toBe(true);
  });

  test('stays under a megabyte', () => {
    const sizes = readdirSync(dataFolder).map((name) => statSync(dataFolder + name).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_000_000);
  });

  test('is what `npm run data` makes, byte for byte', async () => {
    const folder = await tempFolder();
    await promisify(execFile)('npm', ['run', 'data', '--silent', '--', folder], { cwd: root });
    expect(readdirSync(folder).sort()).toEqual(made);
    for (const name of made) {
      const [fresh, kept] = await Promise.all([readFile(`${folder}/${name}`), readFile(dataFolder + name)]);
      expect(fresh.equals(kept), name).toBe(true);
    }
  });
});
