import { isUtf8 } from 'node:buffer';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { careOf, kernelRows, type LaidColumn, longRows } from '../../src/core/formats/parquet/arrow-columns.ts';
import type { Drift } from '../../src/core/records/drift.ts';
import { blockOf, type RowBlock, textOfCell } from '../../src/core/records/row-block.ts';
import type { Column, Row, Table } from '../../src/core/records/table.ts';
import type { RowLayout } from '../../src/exports/row-readers.ts';
import { type CsvDialectName, csvDialects } from '../../src/core/formats/sink.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/lib/json/json.ts';
import type { Kernel } from '../../src/lib/kernel/kernel.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { realRecordTexts } from '../core/records/any-json.ts';
import { guardedKernel } from './guarded-kernel.ts';
import { mutated, randomOf } from './mutate.ts';
import { runsAll } from '../support/lane.ts';

/** Mutated records: `npm run fuzz` takes ten million. */
const runs = Number(process.env.FUZZ ?? (runsAll ? 100_000 : 5_000));
const seed = Number(process.env.FUZZ_SEED ?? 42);
const recordsPerAnswer = 40;

const guarded = guardedKernel();
const withKernel = await loadWith(guarded);
const withoutKernel = await loadWith(undefined);

afterAll(() => {
  vi.doUnmock('../../src/lib/kernel/kernel.ts');
  vi.resetModules();
});

/** The scanner and the encoders with this kernel, or the long way without one. */
async function loadWith(kernel: Kernel | undefined) {
  vi.resetModules();
  vi.doMock('../../src/lib/kernel/kernel.ts', async (original) => {
    return { ...(await original<object>()), theKernel: () => kernel };
  });
  const { RecordRows } = await import('../../src/core/records/scan/record-rows.ts');
  const { csvSink } = await import('../../src/core/formats/csv.ts');
  const { jsonlSink } = await import('../../src/core/formats/jsonl.ts');
  // Tables and numbers are told by identity, so all of these have to be of the same modules.
  const { childTables, recordPlan } = await import('../../src/core/records/scan/record-plan.ts');
  const { assetsTable, fetchedAt } = await import('../../src/core/records/columns.ts');
  const { childRows } = await import('../../src/core/records/flatten-asset.ts');
  const { flattenAsset } = await import('../../src/core/records/flatten-asset.ts');
  const { parseJson } = await import('../../src/lib/json/json.ts');
  const { csvBlocks } = await import('../../src/exports/csv-blocks.ts');
  const { jsonlBlocks } = await import('../../src/exports/jsonl-blocks.ts');
  return {
    fetchedAt,
    csvBlocks,
    jsonlBlocks,
    RecordRows,
    csvSink,
    jsonlSink,
    childTables,
    recordPlan,
    assetsTable,
    childRows,
    flattenAsset,
    parseJson,
  };
}

const { assetsTable, fetchedAt, childTables, recordPlan, childRows, flattenAsset, parseJson } = withKernel;

const texts = [...Array.from({ length: 300 }, (_, n) => generatedRecord(generatedId(3, n))), ...realRecordTexts()];

const plans = [recordPlan(childTables), recordPlan([])];
for (const plan of plans) for (const text of texts) plan.root.learn(parseJson(text) as JsonObject);

type Rows = InstanceType<typeof withKernel.RecordRows>;

/** Reads what it can of an answer, whose records begin at `starts`, and gives how many records that was. */
function readAll(rows: Rows, starts: readonly number[]): number {
  for (let index = 0, behind = 1; index < starts.length; index += 1) {
    const start = starts[index] ?? 0;
    if (start >= behind) behind = Math.max(rows.read(start, starts.length - index), behind);
  }
  return rows.count;
}

function requireSame(table: Table, block: RowBlock, made: readonly Row[]): void {
  const expected = blockOf(table.columns, made);
  for (let cell = 0; cell < Math.max(block.rows, expected.rows) * block.width; cell += 1) {
    const [found, wanted] = [textOfCell(block, cell), textOfCell(expected, cell)];
    const { type, name } = table.columns[cell % block.width] as Column;
    // Marks of a number mean nothing, and of JSON only those of separators do.
    const mask = type === 'string' ? 7 : type === 'json' ? 1 : 0;
    const marks = wanted === null ? 0 : ((block.marks[cell] ?? 0) ^ (expected.marks[cell] ?? 0)) & mask;
    if (found !== wanted || marks !== 0)
      throw new Error(`${table.name}.${name}: ${found} (marks differ by ${marks}) and not ${wanted}`);
  }
}

/** Holds a record to the long way. @throws {Error} when it differs */
function requireLongWay(rows: Rows, record: number, children: readonly Table[]): void {
  const value = parseJson(rows.text(record));
  if (!isJsonObject(value)) throw new Error('no object was taken for a record');
  const flat = flattenAsset(value);
  const drifts: Drift[] = [...flat.drift];
  requireSame(assetsTable, rows.rows(assetsTable, [record]), [flat.row]);
  for (const table of children) requireSame(table, rows.rows(table, [record]), childRows(table, value, drifts));
  const found: string[] = [];
  rows.eachDrift(record, ({ path, kind }) => found.push(`${kind} ${path}`));
  expect(found.sort()).toEqual(drifts.map(({ path, kind }) => `${kind} ${path}`).sort());
}

const dialects: CsvDialectName[] = ['rfc4180', 'redshift', 'snowflake'];

describe('the kernel', () => {
  // Promise, Nothing misread: The kernel makes of mutated records the same rows and Arrow columns as the long way, or refuses them
  it(`makes of ${runs} mutated records what the long way makes, or refuses them`, { timeout: 0 }, () => {
    const random = randomOf(seed);
    let taken = 0;
    let total = 0;
    while (total < runs) {
      const children = total % (2 * recordsPerAnswer) === 0 ? childTables : [];
      const plan = plans[children.length === 0 ? 1 : 0];
      const records: string[] = [];
      for (let index = 0; index < recordsPerAnswer; index += 1)
        records.push(mutated(texts[random(texts.length)] ?? '', random));
      const body = Buffer.from(`[${records.join(',')}]`);
      total += recordsPerAnswer;
      if (!isUtf8(body)) continue;
      let at = 1;
      const starts = records.map((text) => {
        const start = at;
        at += Buffer.byteLength(text) + 1;
        return start;
      });
      const rows = new withKernel.RecordRows(body, plan);
      taken += readAll(rows, starts);
      guarded.requireGuards();
      for (let record = 0; record < rows.count; record += 1) {
        try {
          requireLongWay(rows, record, children);
        } catch (error) {
          throw new Error(`seed ${seed}, record ${total}: ${rows.text(record)}`, { cause: error });
        }
      }
      rows.release();
    }
    // Else it would say nothing.
    expect(taken).toBeGreaterThan(total / 10);
  });

  it('writes lines of mutated records as the long way writes them', { timeout: 0 }, async () => {
    const random = randomOf(seed + 1);
    for (let total = 0; total < runs / 20; total += recordsPerAnswer) {
      for (const { table, block } of mutatedBlocks(random)) {
        const columns = [...table.columns];
        const csvDialect = dialects[random(dialects.length)] ?? 'rfc4180';
        const options = { columns, compression: 'none', escapeFormulas: random(2) === 0, csvDialect } as const;
        for (const format of ['csvSink', 'jsonlSink'] as const) {
          const [fast, slow] = [
            await linesOf(withKernel[format], options, block),
            await linesOf(withoutKernel[format], options, block),
          ];
          guarded.requireGuards();
          if (!fast.bytes.equals(slow.bytes)) expect(fast.bytes.toString()).toBe(slow.bytes.toString());
          expect(fast.notes).toEqual(slow.notes);
        }
      }
    }
  });

  it('lays out columns of mutated records as the long way lays them out', { timeout: 0 }, () => {
    const random = randomOf(seed + 2);
    for (let total = 0; total < runs / 20; total += recordsPerAnswer) {
      for (const { table, block } of [...mutatedBlocks(random), randomNumbers(random)]) {
        const cares = table.columns.map(careOf);
        const first = random(block.rows + 1);
        const rows = {
          first,
          most: random(block.rows - first + 1),
          stop: random(3) === 0 ? random(4096) : 1 << 30,
          before: random(20),
          bases: cares.map(() => random(1000)),
          // So it gets what it says that it takes, and guards behind that.
          room: 0,
        };
        const fast = kernelRows(guarded, block, cares, rows);
        const columns = fast.columns.map(copyOf);
        guarded.requireGuards();
        expect({ ...fast, columns }).toEqual(longRows(block, cares, rows));
      }
    }
  });
});

describe('files that the kernel reads back', () => {
  it('have the rows that the long way reads, and damaged ones keep it in its memory', { timeout: 0 }, async () => {
    const random = randomOf(seed + 2);
    for (let total = 0; total < runs / 20; total += recordsPerAnswer) {
      const rows = Array.from({ length: recordsPerAnswer }, () => tryParse(mutated(someText(random), random))).flatMap(
        (value) => (isJsonObject(value) && typeof value.id === 'string' ? [[...flattenAsset(value).row, time]] : []),
      );
      const block = blockOf(columns, rows);
      const csvDialect = dialects[random(dialects.length)] ?? 'rfc4180';
      for (const format of ['csv', 'jsonl'] as const) {
        const options = { columns, compression: 'none', escapeFormulas: false, csvDialect } as const;
        const { bytes } = await linesOf(withoutKernel[`${format}Sink`], options, block);
        const layout = layoutOf(csvDialect, random);
        const pieces = piecesOf(bytes, random);
        expect(await readBack(withKernel[`${format}Blocks`], pieces, layout)).toEqual(
          await readBack(withoutKernel[`${format}Blocks`], pieces, layout),
        );
        const damaged = Buffer.from(mutated(bytes.toString(), random));
        await readBack(withKernel[`${format}Blocks`], piecesOf(damaged, random), layout).catch((error: unknown) => {
          // What a reader says of a file that is none. A read outside of the source is a `RuntimeError`.
          if (!(error instanceof SyntaxError)) throw error;
        });
        guarded.requireGuards();
      }
    }
  });
});

/** The tables of some mutated records, as the long way makes their rows. */
function mutatedBlocks(random: (below: number) => number): { table: Table; block: RowBlock }[] {
  const rows = new withKernel.RecordRows(Buffer.from('[]'), plans[0]);
  for (let index = 0; index < recordsPerAnswer; index += 1) {
    const value = tryParse(mutated(texts[random(texts.length)] ?? '', random));
    if (isJsonObject(value) && typeof value.id === 'string') rows.add(value, 0, 0);
  }
  const all = Array.from({ length: rows.count }, (_, record) => record);
  return [assetsTable, ...childTables].map((table) => ({ table, block: rows.rows(table, all) }));
}

const numberColumns = (['double', 'int64', 'decimal', 'boolean', 'timestamp'] as const).map((type): Column => {
  return { name: type, type, nullable: true, path: [], about: '' };
});

/** Numbers of any size, with few and many digits. */
function randomNumbers(random: (below: number) => number): { table: Table; block: RowBlock } {
  const digits = () => Array.from({ length: 1 + random(19) }, () => random(10)).join('');
  const integer = (bits: number, value = BigInt(digits()) * 10n ** BigInt(random(3))) =>
    BigInt.asIntN(bits, random(2) === 0 ? value : -value);
  const double = () => Number(`${random(2) === 0 ? '-' : ''}${digits()}.${digits()}e${random(50) - 25}`);
  const rows = Array.from({ length: recordsPerAnswer }, (): Row => {
    if (random(10) === 0) return numberColumns.map(() => null);
    const decimal = BigInt.asUintN(64, integer(65));
    return [double(), integer(64), decimal, random(2) === 0, Number(integer(53))];
  });
  return { table: { name: 'numbers', columns: numberColumns }, block: blockOf(numberColumns, rows) };
}

/** What lies in the kernel's memory, as bytes of its own. */
function copyOf({ nulls, ...bytes }: LaidColumn): LaidColumn {
  return {
    nulls,
    validity: Uint8Array.from(bytes.validity),
    ends: Uint8Array.from(bytes.ends),
    values: Uint8Array.from(bytes.values),
  };
}

const columns = [...assetsTable.columns, fetchedAt];
const time = 1_795_000_000_000_000;

function someText(random: (below: number) => number): string {
  return texts[random(texts.length)] ?? '';
}

/** All columns, or few of them in another order: then the last of a line may be wanted without those before it. */
function layoutOf(dialect: CsvDialectName, random: (below: number) => number): RowLayout {
  const wanted = random(2) === 0 ? columns : columns.filter((_, place) => place === 0 || random(12) === 0).toReversed();
  const names = wanted.map(({ name }) => name);
  return {
    columns: wanted,
    names,
    written: columns.map(({ name }) => name),
    csvNullText: csvDialects[dialect].nullText,
  };
}

function piecesOf(bytes: Uint8Array, random: (below: number) => number): Uint8Array[] {
  const cut = random(bytes.length + 1);
  return [bytes.subarray(0, cut), bytes.subarray(cut)];
}

type BlocksOf = typeof withKernel.csvBlocks;

/** The texts of all cells, and what is known of those of strings and JSON. */
async function readBack(blocksOf: BlocksOf, pieces: readonly Uint8Array[], layout: RowLayout): Promise<unknown[]> {
  const cells: unknown[] = [];
  for await (const block of blocksOf(inTurn(pieces), layout)) {
    for (let cell = 0; cell < block.rows * block.width; cell += 1) {
      const text = textOfCell(block, cell);
      const { type } = layout.columns[cell % block.width] as Column;
      const mask = text === null ? 0 : type === 'string' ? 3 : type === 'json' ? 1 : 0;
      cells.push(text, (block.marks[cell] ?? 0) & mask);
    }
  }
  return cells;
}

async function* inTurn(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, void> {
  yield* pieces;
}

function tryParse(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

type SinkOf = typeof withKernel.csvSink;

async function linesOf(sink: SinkOf, options: Parameters<SinkOf['open']>[1], block: RowBlock) {
  const written: Buffer[] = [];
  const output = {
    write: async (bytes: Uint8Array) => {
      written.push(Buffer.from(bytes));
    },
  };
  const encoder = await sink.open(output, options);
  await encoder.write(block);
  const notes = await encoder.end();
  return { bytes: Buffer.concat(written), notes };
}
