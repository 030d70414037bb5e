/**
 * How fast a finished export is loaded: `load` beside each database's own bulk load of the same files. Makes an export of
 * 1,000,000 assets (unless told otherwise) as Parquet and CSV in a temporary folder.
 *
 *     node --import ts-blank-space/register bench/load.ts 1000000
 *
 * PostgreSQL is the system's, started for the measurement with fsync off; its rows are left out where there is none.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { assetsTable } from '../src/assets/columns.ts';
import { flattenAsset } from '../src/assets/flatten-asset.ts';
import { parseJson, type JsonObject } from '../src/assets/json.ts';
import { blockOf } from '../src/assets/row-block.ts';
import type { Row } from '../src/assets/table.ts';
import { loadExport } from '../src/load/load-export.ts';
import { parseTarget } from '../src/load/load-target.ts';
import { openPart } from '../src/pipeline/part-build.ts';
import { verifyExport } from '../src/pipeline/verify-export.ts';
import { generatedId, generatedRecord } from '../src/service/generated/generated-assets.ts';
import { noCounts, noNotes, type FileFacts } from '../src/store/export-facts.ts';
import { diskFileStore } from '../src/store/file-store.ts';
import { writeManifest } from '../src/store/manifest.ts';
import { ddlFor, loadStatementFor } from '../src/warehouse/dialects.ts';
import { startPostgres } from '../test/warehouse/postgres-server.ts';

const count = Number(process.argv[2] ?? '1000000');
const rowsPerPart = 100_000;
const files = diskFileStore;

/** Writes an export of generated assets: 20,000 different ones, under ids of their own. */
async function makeExport(folder: string, format: 'parquet' | 'csv'): Promise<void> {
  const kinds = Array.from({ length: 20_000 }, (_, n) => {
    const record = parseJson(generatedRecord(generatedId(1, n))) as JsonObject;
    return flattenAsset(record).row;
  });
  const made: FileFacts[] = [];
  const parts = Math.ceil(count / rowsPerPart);
  for (let part = 0; part < parts; part += 1) {
    const build = await openPart(part, {
      files,
      folder,
      formats: [format],
      tables: [assetsTable],
      compression: { parquet: 'zstd', csv: 'none', jsonl: 'none', raw: 'none' },
      escapeFormulas: false,
      csvDialect: 'rfc4180',
    });
    const end = Math.min(count, (part + 1) * rowsPerPart);
    for (let first = part * rowsPerPart; first < end; first += 1000) {
      const rows = Array.from({ length: Math.min(1000, end - first) }, (_, at): Row => {
        return [generatedId(2, first + at), ...(kinds[(first + at) % kinds.length] ?? []).slice(1)];
      });
      await build.write({
        part,
        rows: new Map([['assets', [blockOf(assetsTable.columns, rows)]]]),
        raw: [],
        unexported: [],
        counts: noCounts,
      });
    }
    made.push(...(await build.finish()).files);
  }
  await writeManifest(files, folder, {
    program: { name: 'bench', version: '0' },
    job: {},
    commits: [],
    inputs: [],
    counts: { ...noCounts, read: count, exported: count },
    calls: 0,
    credits: 0,
    parts,
    tables: {
      assets: {
        rows: count,
        columns: assetsTable.columns.map(({ name, type, nullable }) => ({ name, type, nullable })),
      },
    },
    files: made.map((file) => ({
      ...file,
      first: file.part * rowsPerPart + 1,
      last: Math.min(count, (file.part + 1) * rowsPerPart),
    })),
    drift: [],
    notes: noNotes,
  });
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

async function inDuckdb(file: string, statements: readonly string[]): Promise<void> {
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  for (const sql of statements) await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
}

function tell(name: string, { whole, verify, own }: { whole: number; verify: number; own: number }): void {
  const cells = [whole, verify, whole - verify, own].map((each) => each.toFixed(1).padStart(8));
  console.log(`| ${name.padEnd(22)} | ${cells.join(' | ')} | ${((whole - verify) / own).toFixed(2).padStart(5)} |`);
}

const root = await mkdtemp(join(tmpdir(), 'load-bench-'));
const server = await startPostgres();
try {
  console.log(`${count} assets, seconds; Node ${process.version}`);
  console.log('| into, from             |    whole |   verify |     load | own load | ratio |');
  for (const format of ['parquet', 'csv'] as const) {
    const folder = join(root, format);
    await makeExport(folder, format);
    const source = { table: assetsTable, format, folder };
    const verify = await seconds(() => verifyExport(files, folder));
    const duckTarget = parseTarget(`duckdb:${join(root, `${format}.duckdb`)}`, '/');
    const whole = await seconds(() => loadExport({ files, folder, kind: 'duckdb', mode: 'replace' }, duckTarget));
    const own = await seconds(() =>
      inDuckdb(join(root, `${format}-own.duckdb`), [ddlFor('duckdb', assetsTable), loadStatementFor('duckdb', source)]),
    );
    tell(`DuckDB, ${format}`, { whole, verify, own });
    if (typeof server === 'string') continue;
    const target = parseTarget(server.address, '/');
    const request = { files, folder, kind: 'postgres', mode: 'replace' } as const;
    const wholePostgres = await seconds(() => loadExport(request, target));
    // PostgreSQL reads no Parquet: beside it stands the same number of rows from CSV, in the next line.
    if (format === 'parquet') {
      console.log(
        `| PostgreSQL, parquet    | ${[wholePostgres, verify, wholePostgres - verify].map((each) => each.toFixed(1).padStart(8)).join(' | ')} |        - |     - |`,
      );
      continue;
    }
    const script = `DROP TABLE assets; ${ddlFor('postgres', assetsTable)} ${loadStatementFor('postgres', source)}`;
    tell('PostgreSQL, csv', { whole: wholePostgres, verify, own: await seconds(() => server.psql(script)) });
  }
  if (typeof server === 'string') console.log(`PostgreSQL is not measured: ${server}`);
} finally {
  if (typeof server !== 'string') await server.stop();
  await rm(root, { recursive: true, force: true });
}
