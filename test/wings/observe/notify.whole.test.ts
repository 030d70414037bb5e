import { createServer } from 'node:http';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type GeneratedServiceOptions, startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { runHere } from '../../support/run-here.ts';
import { exportBytes } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

interface Post {
  readonly path: string;
  readonly body: string;
  readonly authorization: string | undefined;
  /** Whether the lock of the export was held. */
  readonly isHeld: boolean;
}

/** A receiver that notes what it is sent, and answers so. */
async function receiver(lock: string, status = 200) {
  const posts: Post[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (more: Buffer) => (body += more.toString()));
    request.on('end', () => {
      const { authorization } = request.headers;
      posts.push({ path: request.url ?? '', body, authorization, isHeld: existsSync(lock) });
      response.writeHead(status).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, posts };
}

async function prepared(status = 200, options: GeneratedServiceOptions = {}) {
  const folder = await tempFolder();
  const service = await startGeneratedService(options);
  onTestFinished(() => service.stop());
  await writeIdFile(join(folder, 'ids.txt'), { entries: 60, invalidPercent: 5 });
  const to = await receiver(join(folder, 'mine/.run/lock'), status);
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
  const args = ['--ids', 'ids.txt', '--url', service.url, '--format', 'csv', '--ids-per-call', '10'];
  const run = (command: string, more: readonly string[], added: Readonly<Record<string, string>> = {}) =>
    runHere([command, ...args, ...more], { cwd: folder, environment: { ...environment, ...added } });
  return { folder, run, to };
}

describe('a notification', () => {
  it('has the account of the run, and comes before the export is given back', async () => {
    const { run, to } = await prepared();
    const notify = ['--notify', `${to.url}/hook`, '--out', 'mine'];
    expect(await run('run', [...notify, '--credits-per-run', '320'])).toMatchObject({ exit: 8 });
    expect(await run('run', notify)).toMatchObject({ exit: 0 });
    const [waiting, success] = to.posts.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    expect(to.posts).toHaveLength(2);
    expect(to.posts.every(({ path, isHeld }) => path === '/hook' && isHeld)).toBe(true);
    const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string;
    expect(waiting).toMatchObject({ event: 'waiting', state: 'stopped', exit: 8, calls: 2, credits: 320, fetched: 20 });
    expect(success).toEqual({
      event: 'success',
      export: 'mine',
      run: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7/) as string,
      state: 'complete',
      exit: 0,
      began: iso,
      ended: iso,
      counts: { read: 60, exported: 57, carried: 0, missing: 0, invalid: 3, duplicate: 0, failed: 0, pending: 0 },
      rows: 57,
      fetched: 0,
      creditsLeft: null,
      unlisted: null,
      calls: 4,
      credits: 640,
      retries: 0,
      error: null,
      todo: null,
    });
  });

  it('is a failure where the service refuses more calls than the overrun allows', async () => {
    const { run, to } = await prepared(200, { throttled: ({ number }) => (number === 2 ? 0 : undefined) });
    const ended = await run('run', ['--notify', `${to.url}/hook`, '--out', 'mine', '--overrun', '0']);
    expect(ended).toMatchObject({ exit: 10 });
    expect(ended.stderr).toContain('planned so far');
    expect(to.posts.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
      { event: 'failure', state: 'stopped', exit: 10, todo: expect.stringContaining('--overrun') as string },
    ]);
  });

  it('says that an export is one of the first ids alone', async () => {
    const { run, to } = await prepared();
    const out = ['--out', 'mine', '--limit', '20'];
    expect(await run('run', [...out, '--notify', `${to.url}/hook`])).toMatchObject({ exit: 0 });
    expect(JSON.parse(to.posts[0]?.body ?? '')).toMatchObject({ event: 'success', limit: 20, counts: { read: 20 } });
    const planned = await run('plan', out);
    expect(planned.stdout).toMatch(/read +20 {3}the first 20 ids only \(--limit\)/);
    const rehearsed = await run('rehearse', ['--out', 'other', '--limit', '20', '--json']);
    expect(JSON.parse(rehearsed.stdout)).toMatchObject({ limit: 20, read: 20 });
  });

  it('has the newest version and snapshot of each table of a lake, as run --json has', async () => {
    const { folder, run, to } = await prepared();
    const out = ['--out', 'nights/date={date}', '--format', 'parquet', '--tables', 'assets,creators'];
    const ran = await run('run', [...out, '--lake', 'iceberg', '--notify', to.url, '--json']);
    expect(ran).toMatchObject({ exit: 0 });
    const of = (table: string) => ({
      metadata: join(folder, `nights/lake/${table}/metadata/v1.metadata.json`),
      snapshot: expect.any(Number) as number,
    });
    const { lake } = JSON.parse(ran.stdout) as Record<string, unknown>;
    expect(lake).toEqual({ assets: of('assets'), creators: of('creators') });
    expect(JSON.parse(to.posts[0]?.body ?? '')).toMatchObject({ event: 'success', lake });
  });

  // Promise, Nothing misread: If the lake cannot be written, the same command publishes later
  it('has the account of a complete export whose lake cannot be written, as run --json has', async () => {
    const { folder, run, to } = await prepared();
    mkdirSync(join(folder, 'nights'));
    writeFileSync(join(folder, 'nights/lake'), 'no folder');
    const out = ['--out', 'nights/date={date}', '--format', 'parquet', '--lake', 'iceberg', '--notify', to.url];
    const account = {
      state: 'complete',
      counts: { exported: 57 },
      rows: 57,
      error: { message: expect.stringContaining('is complete, not in the lake') as string },
    };
    const failed = await run('run', [...out, '--json']);
    expect(failed.exit).toBe(7);
    expect(JSON.parse(failed.stdout)).toMatchObject({ ...account, exitCode: 7, callsOfRun: 6 });
    expect(JSON.parse(to.posts[0]?.body ?? '')).toMatchObject({
      ...account,
      event: 'failure',
      exit: 7,
      error: account.error.message,
      todo: expect.stringContaining('run the same command again') as string,
    });
    const again = await run('run', [...out, '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ ...account, state: 'already', exitCode: 7, callsOfRun: 0 });
    const asText = await run('run', out);
    expect(asText.stdout).toContain('was already complete');
    expect(asText.stderr).toContain('is complete, not in the lake');
  });

  it('is a text for slack', async () => {
    const { folder, run, to } = await prepared();
    const job = `${to.url}/services/x`;
    writeFileSync(
      join(folder, 'job.yaml'),
      `ids: { from: none.txt }\nservice: { url: http://127.0.0.1:9 }\noutput: { dir: mine }\nnotify:\n  - { url: '${job}', as: slack }\n  - { url: '${job}/only', as: slack, on: [failure] }\n`,
    );
    expect(await run('run', ['job.yaml'])).toMatchObject({ exit: 0 });
    expect(to.posts.map(({ path }) => path)).toEqual(['/services/x']);
    expect(JSON.parse(to.posts[0]?.body ?? '')).toEqual({
      text: expect.stringMatching(/^mine is complete: 57 of 60 exported; 960 credits, \d+(\.\d)? (ms|s)$/) as string,
    });
  });

  it('pings healthchecks at the start and with the exit code, which is 8 where the credits are spent', async () => {
    const { folder, run, to } = await prepared();
    writeFileSync(
      join(folder, 'job.yaml'),
      `ids: { from: none.txt }\nservice: { url: http://127.0.0.1:9 }\noutput: { dir: mine }\nnotify: [{ url: '${to.url}/uuid', as: healthchecks }]\n`,
    );
    await run('run', ['job.yaml', '--credits-per-run', '320']);
    await run('run', ['job.yaml']);
    await run('run', ['job.yaml', '--ids', 'none.txt']);
    const paths = to.posts.map(({ path }) => path.replace(/\?rid=[\da-f-]{36}$/, ''));
    expect(paths).toEqual(['/uuid/start', '/uuid/8', '/uuid/start', '/uuid/0', '/uuid/start', '/uuid/4']);
    const rids = to.posts.map(({ path }) => path.split('rid=')[1]);
    expect(new Set(rids).size).toBe(3);
    expect(JSON.parse(to.posts[3]?.body ?? '')).toMatchObject({ event: 'success', run: rids[3] });
  });

  it.each([500, 'refused'] as const)(
    'that cannot be delivered (%s) is one warning: files and exit code are the same, the address is nowhere',
    async (status) => {
      const { folder, run, to } = await prepared(500);
      const url = status === 500 ? `${to.url}/secret-token` : 'http://127.0.0.1:9/secret-token';
      const more = ['--notify', url, '--lineage-url', url, '--metrics-file', join(folder, 'm.prom')];
      const { exit, stdout, stderr } = await run('run', ['--out', 'mine', '--json', '--log-level', 'trace', ...more]);
      expect(exit).toBe(0);
      expect(stderr.match(/could not be delivered/g)).toHaveLength(2);
      expect(await run('run', ['--out', 'plain'])).toMatchObject({ exit: 0 });
      expect(exportBytes(join(folder, 'mine'))).toEqual(exportBytes(join(folder, 'plain')));
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      for (const entry of files)
        expect(readFileSync(join(entry.parentPath, entry.name), 'latin1'), entry.name).not.toContain('secret-token');
      expect(stdout + stderr).not.toContain('secret-token');
      expect(stdout + stderr).not.toContain(new URL(url).host);
    },
  );

  it('is sent neither by plan nor by rehearse', async () => {
    const { run, to } = await prepared();
    const more = ['--notify', to.url, '--lineage-url', to.url];
    expect(await run('plan', ['--out', 'mine', ...more])).toMatchObject({ exit: 0 });
    expect(await run('rehearse', ['--out', 'mine', ...more], { OPENLINEAGE_URL: to.url })).toMatchObject({ exit: 0 });
    expect(to.posts).toEqual([]);
  });
});

it('lineage goes to the address of the environment, with its key and namespace', async () => {
  const { run, to } = await prepared();
  const environment = { OPENLINEAGE_URL: to.url, OPENLINEAGE_API_KEY: 'lineage-key', OPENLINEAGE_NAMESPACE: 'nights' };
  expect(await run('run', ['--out', 'mine'], environment)).toMatchObject({ exit: 0 });
  const events = to.posts.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  expect(to.posts.map(({ path, authorization }) => [path, authorization])).toEqual([
    ['/api/v1/lineage', 'Bearer lineage-key'],
    ['/api/v1/lineage', 'Bearer lineage-key'],
  ]);
  expect(events).toMatchObject([
    { eventType: 'START', job: { namespace: 'nights', name: 'mine' } },
    { eventType: 'COMPLETE', job: { namespace: 'nights', name: 'mine' } },
  ]);
});
