import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tables } from '../../../src/core/records/columns.ts';
import { dialectNames } from '../../../src/wings/warehouse/dialects.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { runHere } from '../../support/run-here.ts';
import { runProgram } from '../../support/run-program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const schema = (...args: string[]) => runHere(['schema', ...args], { cwd: root });

describe('schema', () => {
  it('prints a line for every column of every table', async () => {
    const { exit, stdout } = await runProgram(['schema']);
    expect(exit).toBe(0);
    for (const { name, columns } of tables) {
      expect(stdout).toContain(`## ${name}\n`);
      for (const column of columns) expect(stdout).toContain(`| \`${column.name}\` | `);
    }
  });

  it.each(dialectNames)('prints the table and a load statement for each format: %s', async (name) => {
    const { exit, stdout } = await schema('--table', 'creators', '--for', name);
    expect(exit).toBe(0);
    expect(stdout.match(/^CREATE TABLE ["`]?creators/gm)).toHaveLength(1);
    for (const format of ['parquet', 'csv', 'jsonl']) expect(stdout).toContain(`-- load: ${format}`);
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
