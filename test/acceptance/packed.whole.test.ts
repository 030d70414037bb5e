import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { shellWord } from '../../src/lib/addresses/shown-text.ts';
import { BucketOfTests } from '../contract/objects/bucket-of-tests.ts';
import { type FaultyServer, startFaultyServer } from '../contract/objects/faulty-server.ts';
import { serveS3 } from '../contract/objects/s3-bucket.ts';
import { runsAll } from '../support/lane.ts';
import { keptFolder } from '../support/temp-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packageSchema = z.looseObject({ scripts: z.record(z.string(), z.string()) });
const packed = z.array(z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) }));

/** What npm says where it reaches no registry and its cache lacks a package. */
const noRegistry = 'npm reaches no registry';
const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/;

async function run(file: string, args: readonly string[], cwd: string) {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [exit] = (await once(child, 'close')) as [number];
  return { exit, stdout, stderr };
}

describe('the packed program', () => {
  let temp: Awaited<ReturnType<typeof keptFolder>>;
  let files: string[];
  let archive: string;
  /** Of the global installation; undefined where npm reaches no registry. */
  let prefix: string | undefined;

  beforeAll(async () => {
    temp = await keptFolder();
    const { stdout, stderr } = await run(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--pack-destination', temp.path],
      root,
    );
    expect(stdout, stderr).not.toBe('');
    const [result] = packed.parse(JSON.parse(stdout));
    files = (result?.files ?? []).map(({ path }) => path);
    archive = join(temp.path, result?.filename ?? '');
    // Packing reads and compresses 30 MB.
  }, 120_000);

  afterAll(() => temp.remove());

  /** Installs the packed file under a prefix; undefined where npm reaches no registry. */
  async function installGlobally(under: string) {
    const flags = ['--engine-strict', '--prefer-offline', '--no-audit', '--no-fund', '--prefix', under];
    const installed = await run('npm', ['install', '--global', ...flags, archive], temp.path);
    if (installed.exit !== 0 && offline.test(installed.stderr)) return undefined;
    expect(installed.exit, installed.stderr).toBe(0);
    return installed;
  }

  /** Types a line in a shell that finds the installed program, as a user would. */
  async function typed(line: string, cwd: string, under = prefix ?? '') {
    const path = `export PATH=${shellWord(join(under, 'bin'))}:"$PATH" npm_config_prefer_offline=true`;
    const { exit, stdout, stderr } = await run('bash', ['-c', `${path}\n${line}`], cwd);
    return { exit, output: stdout + stderr };
  }

  // Promise, The first hour: The package holds no generator, test, source map or install script, and needs no override
  it('holds what users need, and no generator, test or source map', () => {
    const own = files.filter((path) => !path.startsWith('node_modules/'));
    for (const path of [
      'dist/main.js',
      'dist/index.d.ts',
      'dist/LICENSES.txt',
      'jobs/demo.yaml',
      'data/assets.jsonl.gz',
      'docs/operations.md',
      'LICENSE',
    ]) {
      expect(own).toContain(path);
    }
    expect(own.filter((path) => /\.map$|(?<!\.d)\.ts$/.test(path))).toEqual([]);
    expect([...new Set(own.map((path) => path.split('/')[0]))].sort()).toEqual(
      [
        'ARCHITECTURE.md',
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'data',
        'dist',
        'docs',
        'jobs',
        'package.json',
      ].sort(),
    );
  });

  it('has no script that npm runs where it is installed, and no override, which would not reach users', () => {
    const { scripts, ...rest } = packageSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
    expect(Object.keys(scripts).filter((name) => /^((pre|post)?install|prepare|prepublish)$/.test(name))).toEqual([]);
    expect(rest).not.toHaveProperty('overrides');
  });

  // Promise, The first hour: The package installs under `--engine-strict` without a warning and works from any folder
  it('installs without a warning, and works from a folder of the user', { timeout: 300_000 }, async (context) => {
    const installed = await installGlobally(join(temp.path, 'prefix'));
    if (installed === undefined) return context.skip(noRegistry);
    prefix = join(temp.path, 'prefix');
    // A setting of this machine that npm does not know is none of ours.
    expect(installed.stderr.split('\n').filter((line) => /warn/.test(line) && !/Unknown .*config/.test(line))).toEqual(
      [],
    );

    const program = join(prefix, 'bin/asset-export');
    const own = join(temp.path, 'own');
    copyFileSync(join(root, 'data/ids.txt'), join(temp.path, 'ids.txt'));
    expect(await printedBy(demo)).toMatchObject({ exit: 0 });
    const init = ['init', own, '--yes', '--ids', 'ids.txt', '--url', 'embedded:typed/the demo', '--out', 'own/out'];
    for (const args of [
      init,
      ...(runsAll ? [['plan', 'own/job.yaml']] : []),
      ['run', 'own/job.yaml'],
      ['verify', 'own/out'],
      ['load', 'own/out', '--to', 'duckdb:own/own.duckdb'],
      ['help', 'operations'],
    ]) {
      const { exit, stderr } = await run(program, args, temp.path);
      expect(exit, `${args.join(' ')}\n${stderr}`).toBe(0);
    }
    const { stdout } = await run(program, ['status', 'own/out', '--json'], temp.path);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'complete', counts: { exported: 1300, missing: 20 } });
  });

  const demo = 'asset-export demo "the demo"';
  const damaged = 'cp -r "the demo" "a damaged one"; echo x >"a damaged one/csv/assets/part-00000.csv"';
  const slow = '--ids-per-call 1 --credits-per-second 160';
  const held = `asset-export run --ids ids.txt --url "embedded:the demo" --out "a held one" ${slow}`;

  /** Commands whose last words are a command to type, and what that ends with. */
  const hints: readonly { readonly line: string; readonly hint: RegExp; readonly exit?: number }[] = [
    { line: demo, hint: /^Next: (.*)$/m },
    { line: demo, hint: /^ +(asset-export load .*)$/m },
    { line: demo, hint: /(asset-export init)/ },
    { line: 'asset-export init "my job" --yes --ids ids.txt --url "embedded:the demo"', hint: /^Next: (.*)$/m },
    { line: 'asset-export init "your job" --yes --ids ids.txt --url "embedded:the demo"', hint: /^ {6}(.*run.*)$/m },
    { line: 'asset-export rehearse "my job/job.yaml" --out "my out" --format csv', hint: /"next":"(.*?)"/ },
    { line: 'asset-export run "my job/job.yaml" --out "my out" --format csv', hint: /"next":"(.*?)"/ },
    { line: 'asset-export plan none.yaml', hint: /(asset-export help job)/ },
    { line: 'asset-export run --ulr x', hint: /(asset-export run --help)/ },
    { line: 'asset-export run job.yaml --dry-run', hint: /(asset-export plan) prints/, exit: 2 },
    { line: 'asset-export -v', hint: /(asset-export --version)/ },
    {
      line: 'asset-export run --ids ids.txt --url https://service.example --out keyless',
      hint: /(asset-export demo),/,
    },
    { line: 'asset-export help status', hint: /^More: (.*)$/m },
    { line: 'asset-export serve', hint: /(asset-export demo),/ },
    { line: 'asset-export credits set many', hint: /See (.*)\./ },
    { line: 'asset-export work "my job/job.yaml" --shard', hint: /See (.*)\./ },
    { line: "echo 'idz: 1' >bad.yaml; asset-export plan bad.yaml", hint: /See (.*) for every field/ },
    {
      line: 'asset-export run "my job/job.yaml" --out "my jsonl" --format jsonl && asset-export diff "my jsonl" "my out"',
      hint: /compare that: (.*)/,
    },
    { line: `${damaged}; asset-export load "a damaged one" --to duckdb:a`, hint: /Every problem: (.*)/, exit: 12 },
    { line: `${damaged}; asset-export diff "a damaged one" "my out" --out d`, hint: /Every problem: (.*)/, exit: 12 },
    {
      line: `${held} 2>first.log & until test -e "a held one/.run/lock"; do sleep 0.1; done; ${held}; kill %1; wait`,
      hint: /\((asset-export status .*) shows/,
    },
  ];

  /** The lines that `npm test` types: those after the demo alone, and one that must end with another exit than 0. */
  const sampledLines = /^asset-export (demo|run --ulr)/;

  /** What each line printed: several of its words may be commands to type. */
  const printed = new Map<string, ReturnType<typeof typed>>();
  const typedIn = (): string => join(temp.path, 'typed');

  function printedBy(line: string): ReturnType<typeof typed> {
    mkdirSync(typedIn(), { recursive: true });
    copyFileSync(join(root, 'data/ids.txt'), join(typedIn(), 'ids.txt'));
    const printing = printed.get(line) ?? typed(line, typedIn());
    printed.set(line, printing);
    return printing;
  }

  it.for(runsAll ? hints : hints.filter(({ line }) => sampledLines.test(line)))(
    // Promise, In operation: Lines that the program prints help where typed, in a fresh global installation (sampled)
    'prints a line that can be typed: $line: $hint',
    { timeout: 60_000 },
    async ({ line, hint, exit = 0 }, context) => {
      if (prefix === undefined) return context.skip(noRegistry);
      const { output } = await printedBy(line);
      const [, next = ''] = hint.exec(output) ?? [];
      expect(next, output).toMatch(/^asset-export /);
      expect(await typed(next, typedIn()), next).toMatchObject({ exit });
    },
  );

  /** A line that needs an optional package. */
  interface Needing {
    readonly line: string;
    readonly needs: string;
    /** In an installation without the packages that npm installs where it can. */
    readonly omitted?: boolean;
  }

  const azure = 'AccountName=account;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:1/account;';
  const needing: readonly Needing[] = [
    { line: 'AWS_REGION=none asset-export status s3://bucket/none --out-endpoint $STORE', needs: '@aws-sdk/client-s3' },
    { line: 'STORAGE_EMULATOR_HOST=$NONE asset-export status gs://bucket/none', needs: '@google-cloud/storage' },
    {
      line: `AZURE_STORAGE_CONNECTION_STRING='${azure}' asset-export status az://account/none`,
      needs: '@azure/storage-blob',
    },
    {
      line: 'asset-export enqueue --ids ids.txt --out s3://bucket/none --url $NONE --fleet postgres://127.0.0.1:1/a',
      needs: 'bullmq',
    },
    { line: 'asset-export load "the demo" --to duckdb:a.duckdb', needs: '@duckdb/node-api', omitted: true },
    { line: 'asset-export load "the demo" --to postgres://127.0.0.1:1/a', needs: 'pg', omitted: true },
  ];

  describe('where an optional package is missing', () => {
    let server: FaultyServer;
    let bare: string | undefined;

    beforeAll(async () => {
      server = await startFaultyServer(serveS3(new BucketOfTests(), 'secret'));
      if (!runsAll) return;
      const under = join(temp.path, 'bare');
      if ((await installGlobally(under)) === undefined) return;
      // As where npm could not build or fetch them, which it does not say.
      for (const name of ['@duckdb', 'pg', 'pg-copy-streams'])
        rmSync(join(under, 'lib/node_modules/asset-export/node_modules', name), { recursive: true });
      bare = under;
    }, 120_000);

    afterAll(() => server.stop());

    const told = async (line: string, under: string) => {
      const variables = [
        `export STORE=${server.endpoint} NONE=http://127.0.0.1:1 AWS_EC2_METADATA_DISABLED=true`,
        'AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret',
      ].join(' ');
      const { exit, output } = await typed(`${variables}\n${line}`, typedIn(), under);
      return { exit, output, install: /^ {2}(npm install .*)$/m.exec(output)?.[1] ?? '' };
    };

    // One of them in `npm test`: each starts npm.
    it.for(runsAll ? needing : needing.slice(0, 1))(
      // Promise, In operation: A missing optional package is exit 2 with the line that installs it there
      'prints the line that installs $needs: $line',
      { timeout: 180_000 },
      async ({ line, needs, omitted = false }, context) => {
        const under = omitted ? bare : prefix;
        if (under === undefined) return context.skip(noRegistry);
        const { exit, output, install } = await told(line, under);
        expect(exit, output).toBe(2);
        expect(output).toMatch(/needs the packages? /);
        expect(install).toContain(`npm install --global --prefix ${under} `);
        expect(install).toContain(`${needs}@`);
        if (!runsAll) return;
        const installed = await typed(install, temp.path, under);
        if (installed.exit !== 0 && offline.test(installed.output)) return;
        expect(installed.exit, installed.output).toBe(0);
        // What it says now takes retries.
        const again = await told(line.replace('asset-export', 'timeout 10 asset-export'), under);
        expect(again.output).not.toMatch(/needs the packages? |this is a bug/);
      },
    );

    it.runIf(runsAll)(
      'says that a part is missing, and the same line brings it',
      { timeout: 180_000 },
      async (context) => {
        const client = join(prefix ?? '', 'lib/node_modules/@aws-sdk/client-s3');
        if (!existsSync(client)) return context.skip(noRegistry);
        rmSync(join(client, 'node_modules'), { recursive: true, force: true });
        rmSync(join(client, '../../tslib'), { recursive: true, force: true });
        const [{ line } = { line: '' }] = needing;
        const { exit, output, install } = await told(line, prefix ?? '');
        expect(exit, output).toBe(2);
        expect(output).toMatch(/which is not completely installed \(Cannot find /);
        expect(await typed(install, temp.path)).toMatchObject({ exit: 0 });
        expect((await told(line, prefix ?? '')).output).not.toContain('needs the package');
      },
    );
  });
});
