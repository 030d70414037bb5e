import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Job } from 'kubernetes-models/batch/v1';
import { ConfigMap, ServiceAccount } from 'kubernetes-models/v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/lib/exit-codes.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { shellWord } from '../../src/lib/addresses/shown-text.ts';
import { type RunningService, startService } from '../../src/practice-service.ts';
import { BucketOfTests } from '../contract/objects/bucket-of-tests.ts';
import { type FaultyServer, startFaultyServer } from '../contract/objects/faulty-server.ts';
import { serveS3 } from '../contract/objects/s3-bucket.ts';
import { keptFolder, tempFolder } from '../support/temp-folder.ts';
import { postgresOfTests } from '../wings/warehouse/postgres-of-tests.ts';
import { type ReaderFolder, readerFolder, runBlock } from './reader-folder.ts';
import { batchSchema, commandsOf, jobsOf, kubernetesObjects } from './shipped-commands.ts';
import { unreadMembers } from './unread-members.ts';
import { sampled } from '../model/support/sample.ts';

const folder = fileURLToPath(new URL('../../docs/fleet/', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

const { isMissing, address } = await postgresOfTests('the files of a fleet are not run');

/** What another worker within minutes may help: before `enqueue`, and what helps a run. */
const retried: readonly number[] = [
  exitCodes.input.code,
  exitCodes.unavailable.code,
  exitCodes.locked.code,
  exitCodes.hungUp.code,
  exitCodes.interrupted.code,
  exitCodes.terminated.code,
];

/** Kubernetes' published schema, by kind. */
const schemas: Readonly<Record<string, { readonly prototype: { validate(): void } }>> = {
  ConfigMap,
  Job,
  ServiceAccount,
};

describe('the Kubernetes objects of a fleet', () => {
  const { objects } = kubernetesObjects('fleet/kubernetes.yaml');

  it('fit the published schema, and have no member that it does not name', () => {
    expect(objects.map(({ kind }) => kind)).toEqual(['ServiceAccount', 'ConfigMap', 'Job', 'Job', 'Job']);
    const unread = objects.flatMap((object) => {
      const { value, unread } = unreadMembers(object);
      schemas[object.kind]?.prototype.validate.call(value);
      return unread();
    });
    expect(unread).toEqual([]);
  });

  it('fail each Job for each exit code that a retry cannot help, and for no other', () => {
    const failing = [...textOf('kubernetes.yaml').matchAll(/values: (\[.*\])/g)].map(([, list = '']) => list);
    const hopeless = Object.values(exitCodes)
      .map(({ code }) => code as number)
      .filter((code) => code !== 0 && !retried.includes(code));
    // While it enqueues, nobody waits for it: an id file that is missing stays missing.
    const enqueue = [...hopeless, exitCodes.input.code].sort((a, b) => a - b);
    expect(failing.map((list) => JSON.parse(list) as unknown)).toEqual([enqueue, hopeless, hopeless]);
  });

  it('start as many workers as their shards are counted by', () => {
    const text = textOf('kubernetes.yaml');
    const [, workers = ''] = /completions: (\d+)\n +parallelism: \1\n +completionMode: Indexed/.exec(text) ?? [];
    expect(text).toContain(`args: [work, /config/job.yaml, --shard, /${workers}]`);
  });

  it('are those of another night when the day in them is replaced, as the first line says', () => {
    const text = textOf('kubernetes.yaml');
    expect(text).toContain('# sed "s/2026-01-31/$(date -u +%F)/g" kubernetes.yaml | kubectl apply -f -\n');
    const nightly = objects.filter(({ kind }) => kind !== 'ServiceAccount').map(({ metadata }) => metadata.name);
    expect(nightly.filter((name) => !name.endsWith('-2026-01-31'))).toEqual([]);
  });
});

describe('the file of AWS Batch', () => {
  const { jobDefinition, submitJobs } = batchSchema.parse(JSON.parse(textOf('aws-batch.json')));

  it('retries what another worker within minutes may help, and ends for all else', () => {
    const { evaluateOnExit } = jobDefinition.retryStrategy;
    const retriedThere = evaluateOnExit.filter(({ action }) => action === 'RETRY').map(({ onExitCode }) => onExitCode);
    // A job begins when the one before has ended well, so nothing is enqueued too late (4). Batch sends no SIGINT (130), and SIGKILL (137)
    // after SIGTERM.
    const wanted = retried.filter(
      (code) => ![exitCodes.input, exitCodes.hungUp, exitCodes.interrupted].some((none) => none.code === code),
    );
    expect(retriedThere.map(Number)).toEqual([...wanted, 137].sort((a, b) => a - b));
    // What no condition names is retried.
    expect(evaluateOnExit.at(-1)).toEqual({ onReason: '*', action: 'EXIT' });
  });

  it('submits jobs of its definition, in the number that the page counts', () => {
    expect(new Set(submitJobs.map((job) => job.jobDefinition))).toEqual(new Set([jobDefinition.jobDefinitionName]));
    const numbers = submitJobs.map((_, index) => index).join(' ');
    expect(readFileSync(join(root, 'docs/fleet.md'), 'utf8')).toContain(`for n in ${numbers}; do`);
  });
});

it.runIf(has('systemd-analyze'))('the standing worker is accepted by systemd-analyze verify', async () => {
  // Its name is that of an instance.
  const unit = join(await tempFolder(), 'asset-export-worker@night.service');
  cpSync(join(folder, 'asset-export-worker@.service'), unit);
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
});

it.runIf(has('python3'))('the Airflow file is Python', async () => {
  const copy = join(await tempFolder(), 'dag.py');
  cpSync(join(folder, 'airflow_dag.py'), copy);
  const { status, stderr } = spawnSync('python3', ['-m', 'py_compile', copy], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

describe('the commands of', () => {
  let temp: Awaited<ReturnType<typeof keptFolder>>;
  let service: RunningService;
  let server: FaultyServer;
  let reader: ReaderFolder;

  beforeAll(async () => {
    temp = await keptFolder();
    const assets = [join(root, 'data/assets.jsonl.gz')];
    service = await startService({ assets, host: '127.0.0.1', port: 0, clock: systemClock });
    server = await startFaultyServer(serveS3(new BucketOfTests(), 'secret'));
    reader = await readerFolder(temp.path, service.url);
  });

  afterAll(async () => {
    await service.close();
    await server.stop();
    await temp.remove();
  });

  const run = (script: string, environment: Readonly<Record<string, string>> = {}) => {
    const all = {
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: 'us-east-1',
      AWS_EC2_METADATA_DISABLED: 'true',
      ASSET_EXPORT_OUT_ENDPOINT: server.endpoint,
      ...environment,
    };
    const exports = Object.entries(all).map(([name, value]) => `export ${name}='${value}'\n`);
    return runBlock(`${exports.join('')}${script}`, reader);
  };

  it.skipIf(isMissing)(
    'Kubernetes, AWS Batch and the script make one night',
    async () => {
      const [job = ''] = jobsOf('fleet/kubernetes.yaml');
      const text = job.replace('/secrets/service-key', 'key').replace('/scratch', 'scratch');
      const prepare = `cat > job.yaml <<'END'\n${text}END\necho any > key\n`;
      // The ids of the demo, and the databases of the tests.
      const night = { ASSET_EXPORT_IDS: 'data/ids.txt', ASSET_EXPORT_FLEET: address };
      const here = (argv: readonly string[]): string =>
        argv
          .map((word) => word.replace('/config/job.yaml', 'job.yaml').replace(/^postgres:.*\/warehouse$/, address))
          .map((word) => word.replace(/^\/scratch$/, 'scratch'))
          .map(shellWord)
          .join(' ');
      const [enqueue = [], workers = [], ...rest] = commandsOf('fleet/kubernetes.yaml');
      expect(await run(`${prepare}asset-export ${here(enqueue)}`, night)).toMatchObject({ exit: 0 });

      const { jobDefinition, submitJobs } = batchSchema.parse(JSON.parse(textOf('aws-batch.json')));
      const work = submitJobs.find(({ arrayProperties }) => arrayProperties !== undefined);
      const batch = {
        ...Object.fromEntries(jobDefinition.containerProperties.environment.map(({ name, value }) => [name, value])),
        AWS_BATCH_JOB_ARRAY_SIZE: String(work?.arrayProperties?.size),
        AWS_BATCH_JOB_ARRAY_INDEX: '3',
        ASSET_EXPORT_SCRATCH: join(temp.path, 'batch'),
        ASSET_EXPORT_STATE: join(temp.path, 'batch-state'),
        ...night,
      };
      const worker = `asset-export ${work?.containerOverrides.command.join(' ') ?? ''}`;
      expect(await run(worker, batch)).toMatchObject({ exit: 0 });
      const indexed = await run(`asset-export ${here(workers)}`, { ...night, JOB_COMPLETION_INDEX: '7' });
      expect(indexed).toMatchObject({ exit: 0, output: expect.stringContaining('already') as string });
      for (const argv of rest) expect(await run(`asset-export ${here(argv)}`, night)).toMatchObject({ exit: 0 });

      const script = textOf('night.sh').replace('postgres://exporter@db.internal/warehouse', address);
      writeFileSync(join(reader.path, 'night.sh'), script);
      // The first is complete, the second is not begun.
      for (const day of sampled(['2026-01-31', '2026-02-01'], 2))
        expect(await run(`sh night.sh ${day}`, night)).toMatchObject({ exit: 0 });
    },
    120_000,
  );
});
