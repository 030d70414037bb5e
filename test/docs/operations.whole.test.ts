import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { validate } from 'dockerfile-utils';
import { CronJob } from 'kubernetes-models/batch/v1';
import { ConfigMap, PersistentVolumeClaim } from 'kubernetes-models/v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { exitCodes, type ExitName } from '../../src/lib/exit-codes.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, startService } from '../../src/practice-service.ts';
import { faultsSchema } from '../../packages/practice-service/src/faults/fault-schema.ts';
import { keptFolder, tempFolder } from '../support/temp-folder.ts';
import { sampled } from '../model/support/sample.ts';
import { containerFlags, hasContainers } from '../support/container.ts';
import { queryDuckdb, sqlText } from '../support/query-duckdb.ts';
import { type ReaderFolder, readerFolder, runBlock } from './reader-folder.ts';
import { commandsOf, containersOf, jobsOf, kubernetesObjects } from './shipped-commands.ts';
import { unreadMembers } from './unread-members.ts';

const folder = fileURLToPath(new URL('../../docs/operations/', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/** What another run within minutes may help. */
const retried: readonly ExitName[] = ['unavailable', 'locked', 'hungUp', 'interrupted', 'terminated'];
const codesOf = (names: readonly ExitName[]): number[] => names.map((name) => exitCodes[name].code);

/** Least time to stop: the grace of answers in flight is 20 s. */
const leastStopSeconds = 30;

describe('the systemd unit', () => {
  const service = textOf('asset-export.service');

  // Promise, In operation: systemd accepts unit and timer, and restarts only after exit codes that a retry can help
  it.runIf(has('systemd-analyze'))('and its timer are accepted by systemd-analyze verify', () => {
    const units = ['asset-export.service', 'asset-export.timer'].map((name) => join(folder, name));
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' });
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
  });

  it('restarts what a retry may help, and leaves time to stop', () => {
    const restarted = /^RestartForceExitStatus=(.*)$/m.exec(service)?.[1]?.split(' ').map(Number);
    expect(restarted).toEqual(codesOf(['unavailable', 'locked']));
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(service)?.[1])).toBeGreaterThanOrEqual(leastStopSeconds);
    const state = /^StateDirectory=(.*)$/m.exec(service)?.[1] ?? '';
    expect(service).toContain(`Environment=ASSET_EXPORT_STATE=/var/lib/${state}\n`);
  });
});

/** Debian's cron reads the crontab of a user, without the column of the user, and installs nothing with `-n`. */
const hasCrontab = has('crontab') && spawnSync('crontab', ['-h'], { encoding: 'utf8' }).stderr.includes('-n');

it.runIf(hasCrontab)('the crontab is accepted by crontab', async () => {
  const file = join(await tempFolder(), 'crontab');
  writeFileSync(file, textOf('asset-export.cron').replace('* * * asset-export cd', '* * * cd'));
  const { status, stderr } = spawnSync('crontab', ['-n', file], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
});

describe('the logrotate file', () => {
  it.runIf(has('logrotate'))('is accepted by logrotate', async () => {
    const cwd = await tempFolder();
    const config = join(cwd, 'config');
    const { username } = userInfo();
    const group = spawnSync('id', ['-gn'], { encoding: 'utf8' }).stdout.trim();
    writeFileSync(join(cwd, 'run.log'), 'x');
    const text = textOf('asset-export.logrotate').replace('su asset-export asset-export', `su ${username} ${group}`);
    writeFileSync(config, text.replace('/srv/assets', cwd), { mode: 0o644 });
    const { stderr } = spawnSync('logrotate', ['-d', '-s', join(cwd, 'state'), config], { encoding: 'utf8' });
    expect(stderr).not.toMatch(/^error/m);
    expect(stderr).toContain(`considering log ${join(cwd, 'run.log')}`);
  });
});

describe('the Kubernetes objects', () => {
  const documents = parseAllDocuments(textOf('kubernetes.yaml')).map((each) => z.looseObject({}).parse(each.toJS()));

  // Promise, In operation: The Kubernetes objects fit the schema; an exit code that no retry helps fails the Job
  it('fit the published schema, and have no member that it does not name', () => {
    expect(documents.map(({ kind }) => kind)).toEqual(['ConfigMap', 'PersistentVolumeClaim', 'CronJob']);
    const unread = [ConfigMap, PersistentVolumeClaim, CronJob].flatMap(({ prototype }, index) => {
      const { value, unread } = unreadMembers(documents[index] ?? {});
      // The constructor would copy the object, and so read all of it.
      Reflect.apply(Reflect.get(prototype, 'validate'), value, []);
      return unread();
    });
    expect(unread).toEqual([]);
  });

  it('fail the Job for each exit code that a retry cannot help, and for no other', () => {
    const failing = /values: (\[.*\])/.exec(textOf('kubernetes.yaml'))?.[1] ?? '[]';
    const hopeless = Object.values(exitCodes)
      .map(({ code }) => code as number)
      .filter((code) => code !== 0 && !codesOf(retried).includes(code));
    expect(JSON.parse(failing)).toEqual(hopeless);
  });

  // Promise, In operation: The ledger is on a volume: no pod starts with a fresh daily budget
  it('keep the ledger on the volume, and leave time to stop', () => {
    const text = textOf('kubernetes.yaml');
    const state = /name: ASSET_EXPORT_STATE, value: (.*) \}/.exec(text)?.[1] ?? '';
    expect(text).toContain(`{ name: volume, mountPath: ${state}, `);
    expect(Number(/terminationGracePeriodSeconds: (\d+)/.exec(text)?.[1])).toBeGreaterThanOrEqual(leastStopSeconds);
  });
});

describe('the Dockerfile', () => {
  const text = textOf('Dockerfile');

  it('has nothing that a linter reports', () => {
    expect(validate(text)).toEqual([]);
  });

  // Promise, In operation: The image runs the program as process 1, not as root
  it('runs the program as process 1 and not as root, with the ledger on a volume', () => {
    expect(JSON.parse(/^ENTRYPOINT (.*)$/m.exec(text)?.[1] ?? '')).toEqual(['asset-export']);
    expect(/^USER (\d+)/m.exec(text)?.[1]).toBe('1000');
    const state = /^ENV ASSET_EXPORT_STATE=(.*)$/m.exec(text)?.[1];
    expect(JSON.parse(/^VOLUME (.*)$/m.exec(text)?.[1] ?? '')).toContain(state);
  });
});

it.runIf(has('python3'))('the Airflow file is Python', async () => {
  const copy = join(await tempFolder(), 'dag.py');
  cpSync(join(folder, 'airflow_dag.py'), copy);
  const { status, stderr } = spawnSync('python3', ['-m', 'py_compile', copy], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

it.runIf(has('python3')).each(['operations', 'fleet'])(
  'the Airflow file of %s tries no more after exit code 10',
  (page) => {
    const source = readFileSync(join(root, `docs/${page}/airflow_dag.py`), 'utf8');
    const operator = /^class AssetExport[^]*?^ {12}raise$/m.exec(source)?.[0] ?? '';
    // What Airflow 2 and 3 do of it, by their sources.
    const script = `
class AirflowException(Exception): pass
class AirflowSkipException(AirflowException): pass
class AirflowFailException(AirflowException): pass
class BashOperator:
    def execute(self, code):
        if code == 8: raise AirflowSkipException(f"Bash command returned exit code {code}. Skipping.")
        if code: raise AirflowException(f"Bash command failed. The command returned a non-zero exit code {code}.")
${operator}
for code in (0, 5, 8, 10, 110):
    try: print(code, AssetExport().execute(code))
    except Exception as error: print(code, type(error).__name__)
`;
    const { stdout } = spawnSync('python3', ['-c', script], { encoding: 'utf8' });
    expect(stdout).toBe(
      '0 None\n5 AirflowException\n8 AirflowSkipException\n10 AirflowFailException\n110 AirflowException\n',
    );
  },
);

it('the commands of the image work in its working folder, as the page shows them', async () => {
  const cwd = await tempFolder();
  const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
  const lines = [...page.matchAll(/^\$ docker run [^\n]*? asset-export ((?:init|plan) .*)$/gm)].map(
    ([, line = '']) => line,
  );
  expect(lines).toHaveLength(2);
  expect(textOf('Dockerfile')).toContain('WORKDIR /data\n');
  mkdirSync(join(cwd, 'ids'));
  cpSync(join(root, 'data/ids.txt'), join(cwd, 'ids/ids.txt'));
  const [init = '', plan = ''] = lines;
  for (const line of [init, `${plan} --json`]) {
    const { status, stdout, stderr } = spawnSync('bash', ['-c', `node ${join(root, 'dist/main.js')} ${line}`], {
      cwd,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: cwd },
    });
    expect(status, stderr).toBe(0);
    if (line !== init) expect(JSON.parse(stdout)).toMatchObject({ calls: expect.any(Number) as number });
  }
});

describe('the command of', () => {
  let temp: Awaited<ReturnType<typeof keptFolder>>;
  let service: RunningService;
  let reader: ReaderFolder;

  beforeAll(async () => {
    temp = await keptFolder();
    const assets = [join(root, 'data/assets.jsonl.gz')];
    service = await startService({ assets, host: '127.0.0.1', port: 0, clock: systemClock });
    reader = await readerFolder(temp.path, service.url);
    const job = readFileSync(join(root, 'docs/operations.md'), 'utf8').match(/^asset-export init .*$/m)?.[0] ?? '';
    cpSync(join(folder, 'night.sh'), join(reader.path, 'assets/night.sh'));
    const prepare = `${job}\nmkdir /srv/assets/ids && cp data/ids.txt /srv/assets/ids/ && echo any > /srv/assets/secrets/service-key`;
    expect(await runBlock(prepare, reader)).toMatchObject({ exit: 0 });
  }, 60_000);

  afterAll(async () => {
    await service.close();
    await temp.remove();
  });

  /** The night ends with a warehouse that holds the newest export, and with `latest`. */
  async function expectNight(folder: string): Promise<void> {
    const here = folder.replace('/srv/assets', join(reader.path, 'assets'));
    const warehouse = join(here, 'warehouse.duckdb');
    const rows = await queryDuckdb(
      `ATTACH ${sqlText(warehouse)} AS warehouse; SELECT count(*)::INTEGER FROM warehouse.assets`,
    );
    expect(rows).toEqual([[1300]]);
    expect(await runBlock(`asset-export verify ${folder}/out/latest`, reader)).toMatchObject({ exit: 0 });
    rmSync(warehouse);
  }

  /** Who makes the night, of whom `npm test` takes one. */
  const nights: readonly (readonly [string, () => Promise<void>])[] = [
    [
      'the systemd unit makes the whole night',
      async () => {
        const start = /^ExecStart=(.*)$/m.exec(textOf('asset-export.service'))?.[1] ?? '';
        const script = `cd /srv/assets; export CREDENTIALS_DIRECTORY=/srv/assets/secrets; exec ${start}`;
        expect(await runBlock(script, reader)).toMatchObject({ exit: 0 });
        await expectNight('/srv/assets');
      },
    ],
    // Promise, In operation: The crontab line mails failures alone (sampled)
    [
      'the crontab makes it without a word, and prints the exit code of a step that failed',
      async () => {
        const line = /^5 0 \* \* \* asset-export (.*)$/m.exec(textOf('asset-export.cron'))?.[1] ?? '';
        expect(await runBlock(line, reader)).toEqual({ exit: 0, output: '' });
        await expectNight('/srv/assets');
        const failing = line.replace('sh night.sh', 'JOB=none.yaml sh night.sh');
        expect((await runBlock(failing, reader)).output).toMatch(/^asset-export: exit 2\n[^]*cannot read the job file/);
      },
    ],
    [
      'the CronJob makes it with the job of its ConfigMap',
      async () => {
        const [text = ''] = jobsOf('operations/kubernetes.yaml');
        mkdirSync(join(reader.path, 'config'));
        const here = (path: string): string =>
          path.replaceAll('/data/', `${reader.path}/assets/`).replace('/secrets/', `${reader.path}/assets/secrets/`);
        writeFileSync(join(reader.path, 'config/job.yaml'), here(text).replace('https://service.example', service.url));
        const [{ command, env } = { command: [], env: [] }] =
          kubernetesObjects('operations/kubernetes.yaml').pods.flatMap(containersOf);
        expect(command).toEqual(['asset-export-night']);
        expect(textOf('Dockerfile')).toContain('COPY docs/operations/night.sh /usr/local/bin/asset-export-night\n');
        const variables = env
          .filter(({ name }) => name !== 'ASSET_EXPORT_STATE')
          .map(({ name, value = '' }) => `export ${name}=${here(value).replace('/config', `${reader.path}/config`)}\n`);
        expect(await runBlock(`${variables.join('')}cd /\nexec /srv/assets/night.sh`, reader)).toMatchObject({
          exit: 0,
        });
        await expectNight('/srv/assets');
      },
    ],
  ];

  it.each(sampled(nights, 3))('%s', (_, makeNight) => makeNight());

  // Promise, In operation: The commands of all these files run (sampled)
  it('each task of the Airflow file ends well, one after the other', async () => {
    const steps = commandsOf('operations/airflow_dag.py');
    for (const argv of steps)
      expect(await runBlock(`asset-export ${argv.join(' ')}`, reader)).toMatchObject({ exit: 0 });
  });

  const shells = [
    ['as a process', ''],
    ['as process 1 of a container', `unshare ${containerFlags.join(' ')} `],
  ].filter(([, before]) => before === '' || hasContainers) as [string, string][];

  it.each(sampled(shells, 2))(
    'night.sh passes SIGTERM on %s, and waits for the answers in flight',
    async (_, before) => {
      const slow = await startService({
        assets: [join(root, 'data/assets.jsonl.gz')],
        host: '127.0.0.1',
        port: 0,
        clock: systemClock,
        faults: faultsSchema.parse({ faults: [{ fault: 'latency', ms: 200 }] }),
      });
      try {
        const script = [
          'cd /srv/assets',
          // The log of the case before would be found before the night has emptied it.
          'rm -rf slow && : >slow.log',
          `${before}sh night.sh --url ${slow.url} --out slow/{date} --ids-per-call 1 --concurrency 1 2>slow.log & night=$!`,
          `until grep -q '"msg":"export started"' slow.log; do :; done`,
          `kill -TERM ${before === '' ? '$night' : '$(cat /proc/$night/task/$night/children)'}; wait $night`,
        ];
        expect(await runBlock(script.join('\n'), reader)).toMatchObject({ exit: 143 });
        expect(await runBlock('asset-export status /srv/assets/slow/*', reader)).toMatchObject({
          output: expect.stringContaining('stopped (exit 143)') as string,
        });
      } finally {
        await slow.close();
      }
    },
  );
});
