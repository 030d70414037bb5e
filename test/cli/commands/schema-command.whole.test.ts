import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tables } from '../../../src/core/records/columns.ts';
import { engineNames } from '../../../src/wings/warehouse/engines.ts';
import { openFinished } from '../../../src/exports/finished-export.ts';
import { scriptExportOf } from '../../../src/wings/warehouse/scripts/script-export.ts';
import { assetIds, exportNight, firstNight } from '../../wings/warehouse/diff/two-nights.ts';
import { problemOf } from '../../wings/warehouse/sql-parser.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';
import { runHere } from '../../support/run-here.ts';
import { runProgram } from '../../support/run-program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const schema = (...args: string[]) => runHere(['schema', ...args], { cwd: root });

describe('schema', () => {
  let folder: Awaited<ReturnType<typeof keptFolder>>;
  let out: string;
  beforeAll(async () => {
    folder = await keptFolder();
    const flags = { base: 'none', format: 'parquet,csv' };
    const ids = assetIds.slice(0, 3);
    out = await exportNight({ record: firstNight, ids, flags, out: join(folder.path, 'date=2026-11-20') });
  });
  afterAll(() => folder.remove());
  it('prints a line for every column of every table', async () => {
    const { exit, stdout } = await runProgram(['schema']);
    expect(exit).toBe(0);
    for (const { name, columns } of tables) {
      expect(stdout).toContain(`## ${name}\n`);
      for (const column of columns) expect(stdout).toContain(`- \`${column.name}\` (`);
    }
  });

  it.each(engineNames)('prints the table and a load statement for each format: %s', async (name) => {
    const { exit, stdout } = await schema('--table', 'creators', '--for', name);
    expect(exit).toBe(0);
    expect(stdout.match(/^CREATE TABLE ["`]?creators/gm)).toHaveLength(1);
    for (const format of ['parquet', 'csv', 'jsonl']) expect(stdout).toContain(`-- load: ${format}`);
  });

  it('says in its first line that an example has placeholders', async () => {
    const { stdout } = await schema('--for', 'redshift');
    expect(stdout).toMatch(/^-- An example: .* are placeholders\. For one export: schema --of EXPORT\.\n/);
  });

  describe('--of', () => {
    it('prints a script for one export, with its seal, start, files and names', async () => {
      const { exit, stdout } = await schema('--of', out, '--for', 'duckdb', '--prefix', 'nft_', '--schema', 'raw');
      expect(exit).toBe(0);
      const { seal } = scriptExportOf(await openFinished(out), 'duckdb', '').plan;
      const head = `-- export: date=2026-11-20\n-- seal: ${seal}\n-- start: 20`;
      expect(stdout.startsWith(head), stdout.slice(0, 300)).toBe(true);
      expect(stdout).toContain(`'${out}/parquet/assets/part-00000.parquet'`);
      expect(stdout).toContain('CREATE TABLE IF NOT EXISTS "nft_assets"');
      expect(stdout).toContain(`SET schema = `);
      const columns = await schema('--of', out, '--table', 'creators');
      expect(columns.stdout).toContain('## creators');
      expect(columns.stdout).not.toContain('## assets');
    });

    it.each([
      [['--of', 'EXPORT', '--for', 'bigquery'], 'bigquery cannot read', '--folder gs://bucket/export'],
      [['--of', 'EXPORT', '--for', 'redshift'], 'redshift cannot read', '--folder s3://bucket/export'],
      [['--of', 'EXPORT', '--for', 'snowflake'], 'snowflake cannot read', '--folder @stage/export'],
      [
        ['--of', 'EXPORT', '--for', 'duckdb', '--mode', 'merge'],
        'no script for --mode merge',
        '--to TARGET --mode replace\n',
      ],
      [['--for', 'snowflake', '--mode', 'scd2'], 'no script for --mode scd2', 'apply the table changes'],
      [['--of', 'EXPORT', '--for', 'duckdb', '--table', 'creators'], '--table does not go with --of', ''],
      [['--of', 'EXPORT', '--for', 'job'], '--for job does not go with --of', ''],
      [['jobs/demo.yaml', '--of', 'EXPORT', '--for', 'duckdb'], 'not from a job file', 'Leave the job file out'],
      [['--for', 'job', '--mode', 'replace'], '--for job does not go with --mode', ''],
      [['--for', 'duckdb', '--mode', 'replace'], '--mode replace needs --of', ''],
      [['--mode', 'replace'], '--mode needs --for', 'duckdb'],
      [['--for', 'athena', '--mode', 'replace'], '--mode does not go with', ''],
      [
        ['--for', 'duckdb', '--views', '--mode', 'replace'],
        '--mode replace does not go with --views',
        'Leave --mode out',
      ],
      [
        ['--nights', 'out/date=*'],
        '--nights needs --for',
        'goes with duckdb, clickhouse, athena, trino, spark, databricks.',
      ],
      [['--views'], '--views needs --for', 'spark, databricks.'],
      [['--for', 'bigquery', '--nights', 'gs://b/date=*'], 'one asterisk', 'asset-export lake ROOT --for bigquery'],
      [['--for', 'spark', '--nights', 's3://b/nights/*'], 'needs a name in front of the day', 'nightly/date={date}'],
      [['--for', 'athena', '--schema', 'raw'], '--schema does not go with', 'Select the database'],
      [
        ['--for', 'duckdb', '--cluster', 'id'],
        '--cluster does not go with --for duckdb',
        'bigquery, snowflake, clickhouse',
      ],
      [['--for', 'bigquery', '--cluster', 'x'], 'the column x, which no table has', 'asset-export schema'],
      [['--for', 'redshift', '--cluster', 'id, id'], '--cluster names the column id twice', 'once'],
      [
        ['--for', 'bigquery', '--cluster', 'collection,ownership_owner,interface,mutable,burnt'],
        'bigquery orders a table by at most 4 columns: assets would have 5',
        'fewer',
      ],
      [
        ['--for', 'bigquery', '--cluster', 'royalty_percent'],
        'bigquery cannot order rows by the column royalty_percent (FLOAT64)',
        'another column',
      ],
      [['--for', 'athena', '--cluster', 'id'], '--cluster needs the statements of a warehouse', 'bigquery'],
      [['--views'], '--views needs --for', 'athena'],
      [['--for', 'job', '--views'], '--for job does not go with --views', ''],
      [['--for', 'dbt', '--views'], '--views needs an engine', ''],
      [['--for', 'dbt', '--nights', 'out/date=*'], '--for dbt does not go with --nights', ''],
      [['--of', 'EXPORT', '--for', 'athena'], 'athena cannot read', '--folder s3://bucket/export'],
    ])('refuses %j', async (words, problem, todo) => {
      const { exit, stdout, stderr } = await schema(...words.map((word) => (word === 'EXPORT' ? out : word)));
      expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
      expect(stderr).toContain(problem);
      expect(stderr).toContain(todo);
    });
  });

  it('reads every night of a job with {date} in place, from the first that is named', async () => {
    const job = join(await tempFolder(), 'job.yaml');
    const output = "output: { dir: 's3://bucket/nightly/date={date}', tables: [assets], columns: [id, burnt] }";
    writeFileSync(job, `ids: { from: ids.txt }\nservice: { url: https://service.example }\n${output}\n`);
    const { stdout } = await schema(job, '--for', 'athena', '--prefix', 'nft_');
    expect(stdout).toContain("'storage.location.template' = 's3://bucket/nightly/date=${day}/parquet/assets/'");
    expect(stdout).toContain('CREATE EXTERNAL TABLE IF NOT EXISTS `nft_assets`');
    expect(stdout).toMatch(/^-- The range begins at 2026-01-01: name the first night with --of EXPORT\./);
    const trino = await schema(
      '--of',
      out,
      '--for',
      'trino',
      '--nights',
      's3://bucket/nightly/date=*',
      '--schema',
      'raw',
    );
    expect(trino.stdout).toContain("partition_projection_range = ARRAY['2026-11-20', 'NOW']");
    expect(trino.stdout).toMatch(/^USE "raw";/);
  });

  it('names folders of this machine from their root, because an engine has a folder of its own', async () => {
    const whole = await schema('--of', relative(process.cwd(), out), '--for', 'trino');
    expect(whole.stdout).toContain(`external_location = '${out}/parquet/assets/'`);
    const nights = await schema('--for', 'spark', '--nights', 'date=*');
    expect(nights.stdout).toContain(`basePath '${process.cwd()}'`);
    const elsewhere = await schema('--for', 'spark', '--nights', 'abfss://raw@lake.dfs.core.windows.net/n/date=*');
    expect(elsewhere.stdout).toContain("basePath 'abfss://raw@lake.dfs.core.windows.net/n'");
  });

  it.each([
    ['bigquery', 'CLUSTER BY `collection`, `ownership_owner`'],
    ['snowflake', 'CLUSTER BY (collection, ownership_owner)'],
    ['redshift', 'SORTKEY ("collection", "ownership_owner")'],
    ['clickhouse', 'ORDER BY (`collection`, `ownership_owner`)\nSETTINGS allow_nullable_key = 1'],
  ] as const)('orders the rows of tables that have the columns: %s', async (name, text) => {
    const { stdout } = await schema('--for', name, '--cluster', 'collection,ownership_owner');
    expect(stdout.split(text)).toHaveLength(2);
    const created = /CREATE TABLE[^\n]*\bassets\b[\s\S]*?;\n/.exec(stdout)?.[0] ?? '';
    expect(created).toContain(text);
    expect(name === 'clickhouse' ? undefined : problemOf(name, created)).toBeUndefined();
  });

  it('prints the view and the sources of dbt for what an export holds', async () => {
    const view = await schema('--of', out, '--for', 'postgres', '--views', '--mode', 'scd2', '--schema', 'raw');
    expect(view.stdout).toContain('SET search_path TO "raw";\nCREATE OR REPLACE VIEW "nft_metadata" AS');
    expect(view.stdout).toContain('WHERE a."valid_to" IS NULL;');
    // The export has no table collections.
    expect(view.stdout).toContain('CAST(NULL AS text) AS "collection_name"');
    const { stdout } = await schema('--of', out, '--for', 'dbt', '--schema', 'raw', '--prefix', 'nft_');
    expect(stdout).toContain('    schema: raw\n');
    expect(stdout).toContain('        identifier: nft_creators\n');
    expect(stdout).not.toContain('name: attributes');
    expect(stdout).toMatch(/- name: uses_use_method\n[\s\S]*?accepted_values:\n/);
  });

  it('shows the columns, formats and folder of a job', async () => {
    const { exit, stdout } = await schema('jobs/demo.yaml', '--for', 'duckdb', '--table', 'files');
    expect(exit).toBe(0);
    expect(stdout).toContain("'out/demo/parquet/files/part-*.parquet'");
  });

  it('reads the parts for psql as the job compresses them', async () => {
    const folder = await tempFolder();
    const job = join(folder, 'job.yaml');
    const output = 'output: { dir: out, formats: [csv, jsonl], compression: { csv: gzip, jsonl: zstd } }';
    writeFileSync(job, `ids: { from: ids.txt }\nservice: { url: https://service.example }\n${output}\n`);
    const { stdout } = await schema(job, '--for', 'postgres');
    expect(stdout).toMatch(/part-\*\.csv\.gz; do gzip -dc "\$part" \| tail -n \+2; done/);
    expect(stdout).toMatch(/zstd -dc .*part-\*\.jsonl\.zst/);
    expect(stdout).not.toContain('For compressed parts');
  });

  it('says what was probably meant', async () => {
    expect(await schema('--for', 'redshft')).toMatchObject({
      exit: 2,
      stdout: '',
      stderr: expect.stringContaining('did you mean redshift?') as string,
    });
    expect(await schema('--table', 'creater')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('did you mean creators?') as string,
    });
  });

  it('prints what jobs/job.schema.json holds, which every job file names', async () => {
    const { stdout } = await schema('--for', 'job');
    expect(readFileSync(join(root, 'jobs/job.schema.json'), 'utf8'), 'npm run build && npm run job-schema').toBe(
      stdout,
    );
    for (const file of readdirSync(join(root, 'jobs')).filter((name) => name.endsWith('.yaml'))) {
      const [first] = readFileSync(join(root, 'jobs', file), 'utf8').split('\n');
      expect(first).toBe('# yaml-language-server: $schema=./job.schema.json');
    }
  });
});

it('--history is gone, and names the views to write instead', async () => {
  const { exit, stderr } = await schema('--for', 'duckdb', '--history', 'out/date=*');
  expect(exit).toBe(2);
  expect(stderr).toContain('asset-export schema --for duckdb --nights PATTERN');
});
