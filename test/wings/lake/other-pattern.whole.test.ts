import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { dayOf, idsOfNight, runNight } from './support/lake-root.ts';

const flags = { tables: 'assets,creators', base: 'none' };

/** A root whose lake has nights named `date={date}`. */
async function begunRoot(): Promise<string> {
  const root = await tempFolder();
  await runNight(root, 0, { flags });
  return root;
}

it.each(['night-{date}', dayOf(1)])(
  'a job that names its nights %s beside a lake of others is refused before it sends a call',
  async (name) => {
    const root = await begunRoot();
    let sent = 0;
    const listener = ({ kind }: { kind: string }): void => {
      sent += Number(kind === 'sent');
    };
    const run = (more: object = {}) =>
      runNight(root, 1, { out: `${root}/${name}`, flags: { ...flags, ...more }, context: { listener } });
    await expect(run()).rejects.toMatchObject({
      exit: 'usage',
      message: expect.stringContaining('has nights named date={date}, and this job names them') as string,
      todo: expect.stringContaining('--lake none') as string,
    });
    expect(sent).toBe(0);
    expect(existsSync(join(root, dayOf(1)))).toBe(false);
    expect(await run({ lake: 'none' })).toMatchObject({ state: 'complete' });
  },
);

it('the first ids of such a job are exported: they are not published', async () => {
  const root = await begunRoot();
  const outcome = await runNight(root, 1, { out: `${root}/${dayOf(1)}`, flags: { ...flags, limit: '20' } });
  expect(outcome).toMatchObject({ state: 'complete' });
  expect(outcome.error).toBeUndefined();
});

it('plan and check refuse such a job as run does', async () => {
  const root = await begunRoot();
  const ids = join(root, 'ids.txt');
  await writeFile(ids, `${idsOfNight(1).join('\n')}\n`);
  const job = (name: string) => [
    '--ids',
    ids,
    '--url',
    'http://127.0.0.1:9',
    '--out',
    join(root, name),
    '--lake',
    'iceberg',
  ];
  const plan = await runHere(['plan', ...job(dayOf(1))], { cwd: root });
  expect(plan).toMatchObject({ exit: 2, stdout: '' });
  expect(plan.stderr).toContain('has nights named date={date}');
  const check = await runHere(['check', ...job(dayOf(1))], { cwd: root });
  expect(check.stdout).toMatch(/store.*has nights named date=\{date\}/);
  for (const name of ['date={date}', `date=${dayOf(1)}`]) {
    expect(await runHere(['plan', ...job(name)], { cwd: root })).toMatchObject({ exit: 0 });
    expect((await runHere(['check', ...job(name)], { cwd: root })).stdout).not.toContain('has nights named');
  }
}, 60_000);
