import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Job } from 'kubernetes-models/batch/v1';
import { ConfigMap } from 'kubernetes-models/v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { exitCodes } from '../../src/lib/exit-codes.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, startService } from '../../src/service/start-service.ts';
import { BucketOfTests } from '../contract/objects/bucket-of-tests.ts';
import { type FaultyServer, startFaultyServer } from '../contract/objects/faulty-server.ts';
import { serveS3 } from '../contract/objects/s3-bucket.ts';
import { keptFolder, tempFolder } from '../support/temp-folder.ts';
import { type ReaderFolder, readerFolder, runBlock } from './reader-folder.ts';
import { unreadMembers } from './unread-members.ts';

const folder = fileURLToPath(new URL('../../docs/fleet/', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');
const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/** What another worker within minutes may help: before `enqueue`, and what helps a run. */
const retried: readonly number[] = [
  exitCodes.input.code,
  exitCodes.unavailable.code,
  exitCodes.locked.code,
  exitCodes.interrupted.code,
  exitCodes.terminated.code,
];

describe('the Kubernetes objects of a fleet', () => {
  const documents = parseAllDocuments(textOf('kubernetes.yaml')).map((each) => z.looseObject({}).parse(each.toJS()));

  it('fit the published schema, and have no member that it does not name', () => {
    expect(documents.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Job', 'Job']);
    const unread = [ConfigMap, Job, Job].flatMap(({ prototype }, index) => {
      const { value, unread } = unreadMembers(documents[index] ?? {});
      Reflect.apply(Reflect.get(prototype, 'validate'), value, []);
      return unread();
    });
    expect(unread).toEqual([]);
  });

  it('fail the Job for each exit code that a retry cannot help, and for no other', () => {
    const failing = /values: (\[.*\])/.exec(textOf('kubernetes.yaml'))?.[1] ?? '[]';
    const hopeless = Object.values(exitCodes)
      .map(({ code }) => code as number)
      .filter((code) => code !== 0 && code !== exitCodes.loadFailed.code && !retried.includes(code));
    expect(JSON.parse(failing)).toEqual(hopeless);
  });

  it('start as many workers as their shards are counted by', () => {
    const text = textOf('kubernetes.yaml');
    const [, workers = ''] = /completions: (\d+)\n +parallelism: \1\n +completionMode: Indexed/.exec(text) ?? [];
    expect(text).toContain(`args: [work, /config/job.yaml, --shard, /${workers}]`);
  });
});

const batchSchema = z.object({
  jobDefinition: z.object({
    containerProperties: z.object({
      command: z.array(z.string()),
      environment: z.array(z.object({ name: z.string(), value: z.string() })),
    }),
    retryStrategy: z.object({ evaluateOnExit: z.array(z.object({ onExitCode: z.string().optional() })) }),
  }),
  submitJob: z.object({ arrayProperties: z.object({ size: z.number().min(2).max(10_000) }) }),
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
      ...{ AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' },
      ...{ AWS_EC2_METADATA_DISABLED: 'true', ASSET_EXPORT_OUT_ENDPOINT: server.endpoint },
      ...environment,
    };
    const exports = Object.entries(all).map(([name, value]) => `export ${name}='${value}'\n`);
    return runBlock(`${exports.join('')}${script}`, reader);
  };

  it('the Indexed Job and the array of AWS Batch make one export', async () => {
    const [map, enqueue, workers] = parseAllDocuments(textOf('kubernetes.yaml'));
    const job = z.object({ data: z.object({ 'job.yaml': z.string() }) }).parse(map?.toJS()).data['job.yaml'];
    const argsOf = (document: typeof workers): string => {
      const [, args = ''] = /args: \[(.*)\]/.exec(String(document)) ?? [];
      return args.replaceAll(',', '').replace('/config/job.yaml', 'job.yaml');
    };
    const text = job
      .replace('/data/ids/*.txt', 'data/ids.txt')
      .replace('/secrets/service-key', 'key')
      .replace('/scratch', 'scratch');
    const prepare = `cat > job.yaml <<'END'\n${text}END\necho any > key\n`;
    expect(await run(`${prepare}asset-export ${argsOf(enqueue)}`)).toMatchObject({ exit: 0 });

    const { jobDefinition, submitJob } = batchSchema.parse(JSON.parse(textOf('aws-batch.json')));
    const { command, environment } = jobDefinition.containerProperties;
    const codes = jobDefinition.retryStrategy.evaluateOnExit.flatMap(({ onExitCode }) => onExitCode ?? []);
    expect(codes.map(Number).filter((code) => code !== 137)).toEqual(retried.filter((code) => code !== 130));
    const batch = {
      ...Object.fromEntries(environment.map(({ name, value }) => [name, value])),
      ...{ AWS_BATCH_JOB_ARRAY_SIZE: String(submitJob.arrayProperties.size), AWS_BATCH_JOB_ARRAY_INDEX: '3' },
      ...{ ASSET_EXPORT_SCRATCH: join(temp.path, 'batch'), ASSET_EXPORT_STATE: join(temp.path, 'batch-state') },
    };
    expect(await run(`asset-export ${command.join(' ')}`, batch)).toMatchObject({ exit: 0 });
    const indexed = await run(`asset-export ${argsOf(workers)}`, { JOB_COMPLETION_INDEX: '7' });
    expect(indexed).toMatchObject({ exit: 0, output: expect.stringContaining('already') as string });
  }, 60_000);
});
