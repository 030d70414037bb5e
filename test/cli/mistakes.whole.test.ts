import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/lib/clock.ts';
import { tooOld } from '../../src/node-version.ts';
import { type RunningService, startService } from '../../src/practice-service.ts';
import { generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { runHere } from '../support/run-here.ts';
import { keptFolder, tempFolder } from '../support/temp-folder.ts';
import { mistakes } from './mistakes.ts';
import { sampled } from '../model/support/sample.ts';
import { runsAll } from '../support/lane.ts';

const listed = readFileSync(fileURLToPath(new URL('../../data/ids.txt', import.meta.url)), 'utf8');
const ids = (listed.match(/\b\w{43,44}\b/g) ?? []).slice(0, 6);
const [one = ''] = ids;
const lines = (line: (id: string) => string): string => ids.map((id) => `${line(id)}\n`).join('');

/** What lies in the folder of the user. */
const files: Readonly<Record<string, string | Buffer>> = {
  'ids.txt': lines((id) => id),
  'other.txt': lines((id) => id),
  'ids.json': JSON.stringify(ids),
  'nothing.txt': '',
  'page.html': '<!doctype html><title>Sign in</title>',
  'hex.txt': `${'ab'.repeat(32)}\n`,
  'signatures.txt': `${'5'.repeat(87)}\n`,
  'evm.txt': `0x${'a1'.repeat(20)}\n`,
  'links.txt': lines((id) => `https://explorer.example/address/${id}`),
  'two.csv': `wallet,token\n${lines((id) => `${one},${id}`)}`,
  'owners.csv': `wallet,amount\n${'A'.repeat(43)}C,2\n`,
  'titled.csv': `My collection,,\nExported today,,\nName,Mint,Owner\n${lines((id) => `x,${id},${one}`)}`,
  'wallets.json': JSON.stringify({
    [one]: { amount: 2, mints: ids.slice(1, 3) },
    [ids[3] ?? '']: { mints: ids.slice(4) },
  }),
  'pairs.txt': lines((id) => `${id} ${one}`),
  'headed.txt': `mint owner\n${lines((id) => `${id} ${one}`)}`,
  'wide.txt': Buffer.from(`\uFEFF${ids.join('\n')}`, 'utf16le'),
  'book.xlsx': Buffer.from(`PK\u0003\u0004${'\0'.repeat(80)}`),
  'lfs.txt': 'version https://git-lfs.github.com/spec/v1\n',
  'empty/.keep': '',
  'letters/letter.txt': 'x',
  'records.jsonl': lines(generatedRecord),
  key: 'the-key',
  'wrong.key': 'another',
  'empty.key': '',
  'quoted.key': '"the-key"',
  'two.key': 'one\ntwo\n',
  'job.yaml': 'ids: { from: ids.txt }\nservice: { url: "embedded:records.jsonl" }\noutput: { dir: new }\n',
  'typo.yaml': 'ids: { from: ids.txt }\nservise: { url: "https://x.example" }\noutput: { dir: new, format: csv }\n',
  'list.yaml': '- ids.txt\n',
  'tabs.yaml': 'ids:\n\tfrom: ids.txt\n',
};

let folder: Awaited<ReturnType<typeof keptFolder>>;
let service: RunningService;

beforeAll(async () => {
  folder = await keptFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder.path, name, '..'), { recursive: true });
    if (!name.endsWith('.keep')) writeFileSync(join(folder.path, name), content);
  }
  const made = await runHere(['run', ...'--ids ids.txt --url embedded:records.jsonl --out out/done'.split(' ')], {
    cwd: folder.path,
  });
  expect(made.exit, made.stderr).toBe(0);
  cpSync(join(folder.path, 'out/done'), join(folder.path, 'nights/2026-11-01'), { recursive: true });
  const assets = [join(folder.path, 'records.jsonl')];
  service = await startService({ assets, host: '127.0.0.1', port: 0, apiKeys: ['the-key'], clock: systemClock });
});

afterAll(async () => {
  await service.close();
  await folder.remove();
});

const ended = z.looseObject({ error: z.looseObject({ message: z.string(), todo: z.string().optional() }) });

/** How a run ended, by its log; undefined of another line. */
function endOf(line: string): string | undefined {
  const { data } = ended.safeParse(JSON.parse(line));
  return data === undefined ? undefined : `${data.error.message}\n  ${data.error.todo ?? ''}`;
}

/** Runs a line in a copy of the folder. */
async function typed(line: string, cwd: string) {
  const real = line
    .replace('URL', service.url)
    .replace('TLS', service.url.replace('http:', 'https:'))
    .replace('DEAD', 'http://127.0.0.1:1')
    .replace('ID', one);
  const { exit, stderr } = await runHere(real.split(' '), { cwd, environment: environmentOf(line) });
  const shown = stderr
    .split('\n')
    .map((each) => (each.startsWith('{"level"') ? endOf(each) : each))
    .filter((each) => each !== undefined)
    .join('\n')
    .replaceAll(service.url, 'URL')
    .replaceAll(service.url.replace(/^http:\/\//, ''), 'HOST')
    .replaceAll(cwd, '/home/user')
    .replaceAll(one, 'ID');
  return { exit, shown };
}

/** Who names the endpoint of a bucket has the credentials of one. */
function environmentOf(line: string): Record<string, string> {
  if (!line.includes('--out-endpoint')) return {};
  return { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_REGION: 'us-east-1' };
}

async function homeOfUser(): Promise<string> {
  const cwd = await tempFolder();
  cpSync(folder.path, cwd, { recursive: true });
  return cwd;
}

/** What all lines print: `TEST=all npx vitest run test/cli/mistakes.whole.test.ts --update` writes it. */
const golden = fileURLToPath(new URL('mistakes.golden.txt', import.meta.url));
/** Help that a message names. */
const named = new Set<string>();
const told: string[] = [];

it.each(sampled(mistakes, 3))('says what to type: $line', { timeout: 60_000 }, async ({ line, next = [] }) => {
  const cwd = await homeOfUser();
  const { exit, shown } = await typed(line, cwd);
  told.push(`$ asset-export ${line}\n[exit ${exit}]\n${shown}`);
  expect(exit, shown).toBeGreaterThan(0);
  expect(shown).not.toMatch(/this is a bug|undefined|\[object/);
  for (const [, command = ''] of shown.matchAll(/asset-export (help [\w.-]+|\w+ --help)/g)) named.add(command);
  // Each command and each flag that it names, besides pages of help, is typed below.
  const todo = shown.replace(/^.*\n/, '').replaceAll(/^ {2}See asset-export help job .*$/gm, '');
  for (const [word = ''] of todo.matchAll(/asset-export (?!help|\w+ --help)[a-z]+|(?<![\w-])--(?!help)[a-z-]+/g))
    expect(`${line}\n${next.join('\n')}`, shown).toContain(word);
  for (const each of next) {
    if (each.startsWith('asset-export ')) {
      const ended = await typed(each.slice('asset-export '.length), cwd);
      expect([1, 2], `${each}\n${ended.shown}`).not.toContain(ended.exit);
    } else {
      expect(shown).toContain(each);
      const { status, stderr } = spawnSync('sh', ['-c', each], { cwd, encoding: 'utf8' });
      expect(status, stderr).toBe(0);
    }
  }
});

it('says the same as before, and each page that it names is there', async () => {
  expect(mistakes).toHaveLength(83);
  for (const command of named) expect(await runHere(command.split(' ')), command).toMatchObject({ exit: 0 });
  const node = `$ node-18.20.8 asset-export\n[exit 2]\n${tooOld('18.20.8') ?? ''}`;
  const texts = [...told, node];
  if (runsAll) await expect(texts.join('\n')).toMatchFileSnapshot(golden);
  else for (const text of texts) expect(readFileSync(golden, 'utf8')).toContain(text);
});
