/**
 * What a record costs between its text and its rows: parsing without losing a digit, flattening, child rows, rebuilding,
 * beside JSON.parse and JSON.stringify of the same 2,000 generated records, or of a file of records, one a line.
 *
 *     node --import ts-blank-space/register bench/assets.ts [records.jsonl]
 *
 * Prints microseconds of CPU time a record, medians of rounds in which every stage runs in turn.
 */
import { readFileSync } from 'node:fs';
import { childRows } from '../src/assets/child-tables.ts';
import { tables } from '../src/assets/columns.ts';
import { flattenAsset } from '../src/assets/flatten-asset.ts';
import { isJsonObject, type JsonObject, parseJson, stringifyJson } from '../src/assets/json.ts';
import { rebuildAsset } from '../src/assets/rebuild-asset.ts';
import { generatedId, generatedRecord } from '../src/service/generated/generated-assets.ts';

const rounds = 15;
const recordsPerRound = 10_000;

const file = process.argv[2];
const texts =
  file === undefined
    ? Array.from({ length: 2000 }, (_, n) => generatedRecord(generatedId(1, n)))
    : readFileSync(file, 'utf8').split('\n').filter(Boolean);
const records: JsonObject[] = texts.map(parseJson).filter(isJsonObject);
const rows = records.map((record) => flattenAsset(record).row);
const turns = Math.ceil(recordsPerRound / texts.length);
const childTables = tables.slice(1);

function each<T>(values: readonly T[], work: (value: T) => unknown): () => void {
  return () => {
    for (let turn = 0; turn < turns; turn += 1) for (const value of values) work(value);
  };
}

const stages: Readonly<Record<string, () => void>> = {
  'JSON.parse': each(texts, (text) => JSON.parse(text)),
  parseJson: each(texts, parseJson),
  'JSON.stringify': each(records, (record) => JSON.stringify(record)),
  stringifyJson: each(records, stringifyJson),
  flattenAsset: each(records, flattenAsset),
  'childRows, all five': each(records, (record) => childTables.map((table) => childRows(table, record))),
  rebuildAsset: each(rows, rebuildAsset),
};

function cpuMicros(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

const taken = new Map<string, number[]>();
for (let round = 0; round < rounds; round += 1) {
  for (const [name, work] of Object.entries(stages)) {
    taken.set(name, [...(taken.get(name) ?? []), cpuMicros(work) / (turns * texts.length)]);
  }
}

const median = (name: string): number => {
  const sorted = (taken.get(name) ?? []).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};
const parse = median('JSON.parse');
const bytes = texts.reduce((sum, text) => sum + text.length, 0) / texts.length;
console.log(`${texts.length} records of ${Math.round(bytes)} characters`);
for (const name of taken.keys()) {
  const micros = median(name);
  console.log(
    `${name.padEnd(20)} ${micros.toFixed(2).padStart(6)} µs a record  ${(micros / parse).toFixed(2)} × JSON.parse`,
  );
}
