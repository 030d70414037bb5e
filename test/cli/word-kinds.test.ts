import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { generatedId } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { runHere } from '../support/run-here.ts';
import { keptFolder } from '../support/temp-folder.ts';

let folder: { readonly path: string; readonly remove: () => Promise<void> };
const ids = [0, 1, 2, 3].map((index) => generatedId(1, index));

beforeAll(async () => {
  folder = await keptFolder();
  const put = (name: string, text: string): void => {
    writeFileSync(join(folder.path, name), text);
  };
  put('ids.txt', ids.slice(0, 2).join('\n'));
  put('more.txt', ids.slice(2).join('\n'));
  put('list', ids.join('\n'));
  put('job.yaml', 'ids: { from: ids.txt }\nservice: { url: http://127.0.0.1:1 }\noutput: { dir: new }\n');
  put('job.txt', 'ids:\n  from: ids.txt\n');
  for (const name of ['old', 'nights/2026-01-01', 'nights/2026-01-02'])
    mkdirSync(join(folder.path, name, '.run'), { recursive: true });
  mkdirSync(join(folder.path, 'empty'));
});

afterAll(() => folder.remove());

const run = (...line: readonly string[]) => runHere(line, { cwd: folder.path });

const takesJob = ['run', 'plan', 'check', 'rehearse', 'enqueue', 'work', 'schema', 'ids'];
const takesExport = ['verify', 'load', 'rebuild', 'report', 'diff'];

describe('a word that is something else than the command takes is named, with what to write', () => {
  const cases: readonly (readonly [readonly string[], string, string, string])[] = [
    [
      takesJob.filter((name) => !['schema', 'ids'].includes(name)),
      'ids.txt',
      'a list of ids, not a job file',
      '--ids ids.txt',
    ],
    [
      takesJob.filter((name) => !['schema', 'ids'].includes(name)),
      'list',
      'a list of ids, not a job file',
      '--ids list',
    ],
    [['schema'], 'old', 'an export, not a job file', '--of old'],
    [takesJob.filter((name) => name !== 'schema'), 'old', 'an export, not a job file', 'asset-export status old'],
    [takesJob, 'nights', 'a folder of exports, not a job file', 'asset-export status nights'],
    [takesExport, 'ids.txt', 'a list of ids, not an export', 'Name the output folder of an export'],
    [takesExport, 'empty', 'an empty folder, not an export', 'Name the output folder of an export'],
    [
      takesExport.filter((name) => name !== 'load'),
      'nights',
      'a folder of exports, not an export',
      'nights/2026-01-01',
    ],
    [[...takesExport, 'status'], 'job.yaml', 'a job file, not an export', 'Name the output folder of an export'],
    [[...takesExport, 'status'], 'job.txt', 'a job file, not an export', 'Name the output folder of an export'],
    [['status'], 'empty', 'an empty folder, not an export', 'Name the output folder of an export'],
    [['prune', 'lake'], 'ids.txt', 'a list of ids, not a folder of exports', 'Name the output folder'],
    [['get'], 'ids.txt', 'a list of ids, not an id', '--ids ids.txt'],
    [['get'], 'job.yaml', 'a job file, not an id', '--job job.yaml'],
  ];
  it.each(cases)('%s %s', async (names, word, is, todo) => {
    for (const name of names) {
      const { exit, stderr } = await run(name, word, ...(name === 'diff' ? [word] : []));
      expect(exit, name).toBe(2);
      expect(stderr, name).toContain(`${word} is ${is}`);
      expect(stderr, name).toContain(todo);
    }
  });

  it('every command whose word is a job or an export says so', async () => {
    const kinds: Record<string, string | undefined> = {};
    for (const { name, load } of commands) kinds[name] = (await load()).words?.is;
    for (const name of takesJob) expect(kinds[name], name).toBe('job');
    for (const name of takesExport) expect(kinds[name], name).toBe(name === 'load' ? 'either' : 'export');
  });
});

describe('--ids takes several files', () => {
  it.each([
    [['--ids', 'ids.txt', 'more.txt', '--url', 'http://127.0.0.1:1', '--out', 'new']],
    [['job.yaml', '--ids', 'ids.txt', 'more.txt']],
    [['--ids', 'ids.txt', 'more.txt', 'job.yaml']],
    [['--ids=ids.txt', 'more.txt', 'job.yaml']],
  ])('%s', async (line) => {
    const { exit, stdout, stderr } = await run('plan', ...line, '--json');
    expect({ exit, stderr }).toMatchObject({ exit: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ valid: 4 });
  });

  it('what is no list behind it is read as the job file', async () => {
    const { exit, stderr } = await run('plan', '--ids', 'ids.txt', 'absent.txt');
    expect(exit).toBe(2);
    expect(stderr).toContain('absent.txt: it does not exist');
  });
});
