/**
 * How fast ids are read. Makes files of ids (2,000,000 unless told otherwise) in a temporary folder and reads them in
 * several ways, each in a process of its own, beside a loop of `bs58.decode` over the first 500,000 of the same ids.
 *
 *     node --import ts-blank-space/register bench/read-ids.ts 10000000
 *
 * Prints a table. Memory is the peak of the whole process; the first row holds its ids in memory, the others do not.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import bs58 from 'bs58';
import { HashSet128 } from '../src/lib/hash-set-128.ts';
import { markDuplicates } from '../src/pipeline/mark-duplicates.ts';
import { expandInputs } from '../src/pipeline/read-ids/id-input.ts';
import { readIds } from '../src/pipeline/read-ids/read-ids.ts';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const idsPerWrite = 20_000;

/** 44 characters of which the first is from `2` to `G` always make 32 bytes. Deterministic: xorshift32. */
function writeIds(file: string, count: number, format: string): void {
  let state = 0x9e3779b9;
  const digit = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  const text = (): string => {
    let id = alphabet.charAt(1 + digit(15));
    while (id.length < 44) id += alphabet.charAt(digit(58));
    return id;
  };
  const output = openSync(file, 'w');
  writeSync(output, format === 'csv' ? 'name,id\n' : format === 'json' ? '[' : '');
  for (let done = 0; done < count; done += idsPerWrite) {
    let lines = '';
    for (let index = done; index < Math.min(count, done + idsPerWrite); index += 1) {
      const id = text();
      lines +=
        format === 'csv'
          ? `"Thing #${index}",${id}\n`
          : format === 'json'
            ? `${index === 0 ? '' : ','}"${id}"`
            : `${id}\n`;
    }
    writeSync(output, lines);
  }
  writeSync(output, format === 'json' ? ']' : '');
  closeSync(output);
}

/** A stage gets its file ready, then gives what is measured; that returns the number of valid ids. */
const stages: Readonly<Record<string, (file: string) => () => number | Promise<number>>> = {
  'bs58.decode loop': (file) => {
    const lines = readFileSync(file, 'latin1')
      .slice(0, 500_000 * 45)
      .split('\n')
      .filter((line) => line !== '');
    return () => lines.filter((line) => bs58.decodeUnsafe(line)?.length === 32).length;
  },
  'lines, exact check': (file) => () => countValid(file, false),
  'lines, check, duplicates': (file) => () => countValid(file, true),
  'CSV, check': (file) => () => countValid(file, false),
  'JSON array, check': (file) => () => countValid(file, false),
};

async function countValid(file: string, dedupe: boolean): Promise<number> {
  const inputs = await expandInputs({ from: [file], baseDir: '/' });
  const read = readIds(inputs);
  let valid = 0;
  for await (const block of dedupe ? markDuplicates(read, new HashSet128()) : read) {
    for (const entry of block) if (entry.sighting === 'valid') valid += 1;
  }
  return valid;
}

async function measure(stage: string, file: string): Promise<void> {
  const run = stages[stage]?.(file);
  const before = process.cpuUsage();
  const start = process.hrtime.bigint();
  const ids = (await run?.()) ?? 0;
  const wall = Number(process.hrtime.bigint() - start) / 1e9;
  const { user, system } = process.cpuUsage(before);
  const cpu = (user + system) / 1e6;
  const peakMb = process.resourceUsage().maxRSS / 1024;
  const row = [ids, (ids / cpu / 1e6).toFixed(2), (ids / wall / 1e6).toFixed(2), peakMb.toFixed(0)];
  process.stdout.write(`| ${stage} | ${row.join(' | ')} |\n`);
}

function measureAll(count: number): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-read-ids-'));
  try {
    const files: Readonly<Record<string, string>> = { l: 'ids.txt', b: 'ids.txt', C: 'ids.csv', J: 'ids.json' };
    for (const name of new Set(Object.values(files)))
      writeIds(path.join(folder, name), count, path.extname(name).slice(1));
    process.stdout.write('| stage | ids | M ids/s of CPU | M ids/s of wall | peak MB |\n|---|---|---|---|---|\n');
    for (const stage of Object.keys(stages)) {
      const file = path.join(folder, files[stage.charAt(0)] ?? '');
      spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), stage, file], {
        stdio: 'inherit',
      });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const [first = '2000000', file] = process.argv.slice(2);
if (file === undefined) measureAll(Number(first));
else await measure(first, file);
