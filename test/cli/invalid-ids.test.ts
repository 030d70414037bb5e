import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startGeneratedService } from '../support/service/generated-service.ts';
import { idEntries } from '../support/id-file.ts';
import { runHere } from '../support/run-here.ts';
import { tempFolder } from '../support/temp-folder.ts';

const ids = idEntries({ entries: 10 });

/** Runs the program on one id file, against a service of its own. */
async function withIds(name: string, text: string) {
  const folder = await tempFolder();
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  await mkdir(join(folder, 'lists'));
  await writeFile(join(folder, 'lists', name), text);
  const line = ['--url', service.url, '--out', 'out', '--format', 'csv'];
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
  const program = (command: string, ...more: string[]) => {
    const ids = more[0]?.endsWith('.yaml') ? [] : ['--ids', `lists/${name}`];
    return runHere([command, ...ids, ...line, ...more], { cwd: folder, environment });
  };
  return { folder, program, calls: () => service.counts().calls };
}

const half = `name,id\n${ids.map((id, index) => `n${index},${id}`).join('\n')}\n${'Bob,Alice\n'.repeat(10)}`;

describe('plan and run', () => {
  // Promise, Nothing misread: `plan` and `run` name the id column, and show three invalid ids with file and line
  it('name the column of the ids and show three invalid ones with file and line', async () => {
    const { program } = await withIds('wallets.csv', half);
    const planned = await program('plan');
    expect(planned.exit, planned.stderr).toBe(0);
    const ran = await program('run');
    expect(ran.exit, ran.stderr).toBe(0);
    for (const text of [planned.stdout, ran.stdout]) {
      expect(text).toContain('ids of lists/wallets.csv: column "id"');
      expect(text.match(/lists\/wallets\.csv:\d+: "Alice":/g)).toHaveLength(3);
      expect(text).toContain('lists/wallets.csv:12: "Alice"');
    }
  });

  it('name files from where the user stands, also those of a job file elsewhere', async () => {
    const { folder, program } = await withIds('wallets.csv', half);
    await mkdir(join(folder, 'jobs'));
    const job = 'ids: { from: ../lists/*.csv }\nservice: { url: x }\noutput: { dir: x }\n';
    await writeFile(join(folder, 'jobs', 'job.yaml'), job);
    for (const command of ['plan', 'run']) {
      const { stdout } = await program(command, 'jobs/job.yaml');
      expect(stdout).toContain('ids of lists/wallets.csv: column "id"');
      expect(stdout).toContain(' lists/wallets.csv:12: "Alice"');
      expect(stdout).not.toContain('../');
    }
    await writeFile(
      join(folder, 'lists', 'titled.csv'),
      `Mine,,\n,,\nName,Mint\n${ids.map((id) => `x,${id}\n`).join('')}`,
    );
    await writeFile(join(folder, 'jobs', 'titled.yaml'), job.replace('*', 'titled'));
    const { stderr } = await program('plan', 'jobs/titled.yaml');
    expect(stderr).toMatch(/^asset-export: lists\/titled\.csv: the header [^]* tail -n \+3 < lists\/titled\.csv > /);
  });

  it.each(['check', 'plan', 'run'])('%s names a column that looks like wallets', async (command) => {
    const { program } = await withIds('wallets.csv', half.replace('name,id', 'name,wallet'));
    const { stdout } = await program(command);
    expect(stdout).toContain(
      '"wallet" (the only column with ids; set another with --id-column): these look like wallets',
    );
  });

  it.each(['check', 'plan', 'run'])(
    '%s says that --id-column is not used where no list has columns',
    async (command) => {
      const { program } = await withIds('ids.txt', `${ids[0]}\n`);
      const { stdout, stderr } = await program(command, '--id-column', 'mint');
      expect(`${stdout}${stderr}`).toContain('--id-column mint is not used: no list has columns');
    },
  );

  it('tell the same in JSON', async () => {
    const { program } = await withIds('wallets.csv', half);
    const facts = {
      columns: [{ input: 'lists/wallets.csv', column: 'id', guessed: false }],
      invalidSamples: [{ at: 'lists/wallets.csv:12', text: 'Alice' }, {}, {}],
    };
    for (const command of ['plan', 'run'])
      expect(JSON.parse((await program(command, '--json')).stdout)).toMatchObject(facts);
  });

  // Promise, Nothing misread: Too many invalid ids, or no id at all, are exit 3
  it('end with 3 where more is invalid than the job tolerates', async () => {
    const { program } = await withIds('wallets.csv', `${half}x,y\n`);
    for (const command of ['plan', 'run']) {
      const { exit, stderr } = await program(command);
      expect(exit).toBe(3);
      expect(stderr).toContain('11 ids are invalid, but tolerance.maxInvalid allows 50%');
    }
    expect((await program('plan', '--max-invalid', '60%')).exit).toBe(0);
  });

  it('end with 3 where nothing is read', async () => {
    const { program, calls } = await withIds('none.txt', '\n\n');
    for (const command of ['plan', 'run']) {
      const { exit, stderr } = await program(command);
      expect(exit).toBe(3);
      expect(stderr).toContain('no id was read');
    }
    expect(calls()).toBe(0);
  });

  it('refuse a column without ids, two columns of ids, and what is no list, before any call', async () => {
    const { program, calls } = await withIds('wallets.csv', half.replace('name,id', 'name,address'));
    for (const command of ['plan', 'run']) {
      const { exit, stdout, stderr } = await program(command, '--id-column', 'name');
      expect(exit).toBe(4);
      expect(stdout).toBe('');
      expect(stderr).toContain('none of its 20 entries is an asset id (column "name")');
      expect(stderr).toContain('lists/wallets.csv:2: "n0"');
      expect(stderr).not.toContain('exported');
    }
    expect(calls()).toBe(0);
    expect((await program('run')).exit).toBe(0);
  });
});
