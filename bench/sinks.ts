/**
 * Rows a second of CPU time that each sink encodes, beside JSON.parse of the records that the rows came from.
 *
 *     node --import ts-blank-space/register bench/sinks.ts [records.jsonl]
 *
 * The rows are those of `assets`, of generated records or of a file of records, one a line, in blocks of 1,000 whose text lies in one
 * place, as in an answer. Each sink encodes the same blocks over and over, and its bytes are thrown away. Rounds take turns and the median counts, as the share of the
 * baseline too: both suffer alike from whatever else the machine does. CPU time is that of all threads: garbage collection and
 * WebAssembly compilation count. `stall` is the longest time in which the event loop did not turn, in milliseconds.
 */
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { stringify } from 'csv-stringify';
import { assetsTable } from '../src/assets/columns.ts';
import { flattenAsset } from '../src/assets/flatten-asset.ts';
import { isJsonObject, parseJson } from '../src/assets/json.ts';
import { blockOf, type RowBlock } from '../src/assets/row-block.ts';
import type { Column, Row } from '../src/assets/table.ts';
import { sinkFor } from '../src/sinks/registry.ts';
import { type ByteOutput, compressions, type Format } from '../src/sinks/sink.ts';
import { generatedId, generatedRecord } from '../src/service/generated/generated-assets.ts';

const rounds = 7;
const rowsPerRound = 40_000;
const rowsPerWrite = 1000;

const file = process.argv[2];
const texts =
  file === undefined
    ? Array.from({ length: 20_000 }, (_, n) => generatedRecord(generatedId(1, n)))
    : readFileSync(file, 'utf8').split('\n').filter(Boolean);
const rows: Row[] = texts.map((text) => flattenAsset(asObject(text)).row);
const rawColumns: readonly Column[] = [{ name: 'record', type: 'json', nullable: false, path: [], about: '' }];
const blocks = blocksOf(assetsTable.columns, rows);
const rawBlocks = blocksOf(
  rawColumns,
  texts.map((text) => [text]),
);

function asObject(text: string): Parameters<typeof flattenAsset>[0] {
  const record = parseJson(text);
  if (!isJsonObject(record)) throw new Error('a record is no object');
  return record;
}

function blocksOf(columns: readonly Column[], all: readonly Row[]): RowBlock[] {
  const found: RowBlock[] = [];
  for (let start = 0; start < all.length; start += rowsPerWrite) {
    const block = blockOf(columns, all.slice(start, start + rowsPerWrite));
    found.push({ ...block, source: block.made, made: new Uint8Array(0), from: block.from.map((from) => ~from) });
  }
  return found;
}

/** Gives `rowsPerRound` rows or some more, in writes, from the start again as often as it takes. */
async function eachWrite<T>(writes: readonly T[], write: (rows: T) => Promise<void>): Promise<void> {
  for (let turn = 0; turn * rowsPerWrite < rowsPerRound; turn += 1) {
    const rowsOfTurn = writes[turn % writes.length];
    if (rowsOfTurn !== undefined) await write(rowsOfTurn);
    await new Promise(setImmediate);
  }
}

class CountedBytes implements ByteOutput {
  bytes = 0;
  async write(bytes: Uint8Array): Promise<void> {
    this.bytes += bytes.length;
  }
}

function sinkStage(format: Format): () => Promise<number> {
  return async () => {
    const output = new CountedBytes();
    const sink = sinkFor(format);
    const encoder = await sink.open(output, {
      columns: format === 'raw' ? rawColumns : assetsTable.columns,
      compression: compressions[format][0],
      escapeFormulas: false,
    });
    await eachWrite(format === 'raw' ? rawBlocks : blocks, (block) => encoder.write(block));
    await encoder.end();
    return output.bytes;
  };
}

async function parseStage(): Promise<number> {
  let bytes = 0;
  const answers: string[] = [];
  for (let start = 0; start < texts.length; start += rowsPerWrite) {
    answers.push(`[${texts.slice(start, start + rowsPerWrite).join(',')}]`);
  }
  for (let done = 0, turn = 0; done < rowsPerRound; turn += 1) {
    const answer = answers[turn % answers.length] ?? '[]';
    const records: unknown = JSON.parse(answer);
    bytes += answer.length;
    done += Array.isArray(records) && records.length > 0 ? records.length : rowsPerRound;
    await new Promise(setImmediate);
  }
  return bytes;
}

/** The library that the CSV sink is checked against, as a stream of arrays: its fastest way. */
async function csvStringifyStage(): Promise<number> {
  let bytes = 0;
  const stream = stringify({
    cast: { boolean: String, number: String, bigint: String },
    quoted_match: /^$/,
    header: true,
    columns: assetsTable.columns.map(({ name }) => name),
  });
  stream.on('data', (piece: Buffer) => {
    bytes += piece.length;
  });
  const starts = Array.from({ length: blocks.length }, (_, turn) => turn * rowsPerWrite);
  await eachWrite(starts, async (start) => {
    for (const row of rows.slice(start, start + rowsPerWrite)) stream.write(row);
    await new Promise(setImmediate);
  });
  stream.end();
  await new Promise((resolve) => stream.once('end', resolve));
  return bytes;
}

const stages: Readonly<Record<string, () => Promise<number>>> = {
  'JSON.parse': parseStage,
  csv: sinkStage('csv'),
  'csv-stringify': csvStringifyStage,
  jsonl: sinkStage('jsonl'),
  raw: sinkStage('raw'),
  parquet: sinkStage('parquet'),
};

interface Round {
  readonly cpuUs: number;
  readonly stallMs: number;
  readonly bytes: number;
}

const taken = new Map<string, Round[]>();
for (let round = 0; round < rounds; round += 1) {
  for (const [name, stage] of Object.entries(stages)) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const start = process.cpuUsage();
    const bytes = await stage();
    const { user, system } = process.cpuUsage(start);
    delay.disable();
    taken.set(name, [...(taken.get(name) ?? []), { cpuUs: user + system, stallMs: delay.max / 1e6, bytes }]);
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

console.log(
  `Node ${process.version}, ${texts.length} records, ${assetsTable.columns.length} columns, median of ${rounds} rounds`,
);
for (const [name, all] of taken) {
  const baseline = taken.get('JSON.parse') ?? [];
  const rowsPerSecond = (rowsPerRound / median(all.map(({ cpuUs }) => cpuUs))) * 1e6;
  const share = median(all.map(({ cpuUs }, round) => cpuUs / (baseline[round]?.cpuUs ?? Number.NaN)));
  console.log(
    `${name.padEnd(14)} ${Math.round(rowsPerSecond).toLocaleString('en').padStart(9)} rows/s  ${share.toFixed(2)} of JSON.parse's time  ` +
      `${Math.round((all[0]?.bytes ?? 0) / rowsPerRound)} bytes a row  stall ${Math.round(median(all.map(({ stallMs }) => stallMs)))}`,
  );
}
console.log(`resident ${Math.round(process.memoryUsage().rss / 1e6)} MB`);
