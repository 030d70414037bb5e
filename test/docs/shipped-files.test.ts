import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { commandNamed } from '../../src/cli/command-named.ts';
import { commands } from '../../src/cli/commands.ts';
import { parseArguments } from '../../src/cli/parse-arguments.ts';
import { environmentName, jobFields } from '../../src/core/job/job-fields.ts';
import type { Job } from '../../src/core/job/job-schema.ts';
import { loadJob } from '../../src/core/job/load-job.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { batchSchema, commandsOf, containersOf, jobsOf, kubernetesObjects, shippedText } from './shipped-commands.ts';

/** What each shipped file is for, and its commands in their order. The other tests of this folder give each to its reader. */
const files: Readonly<Record<string, readonly string[]>> = {
  'fleet/airflow_dag.py': ['enqueue', 'work', 'work', 'verify', 'load', 'prune'],
  'fleet/asset-export-worker@.service': ['work'],
  'fleet/aws-batch.json': ['enqueue', 'work', 'verify', 'load', 'prune'],
  'fleet/job.yaml': [],
  'fleet/kubernetes.yaml': ['enqueue', 'work', 'work', 'verify', 'load', 'prune'],
  'fleet/night.sh': ['enqueue', 'work', 'verify', 'load', 'prune'],
  'observability/dashboard.json': [],
  'observability/rules.yml': [],
  'operations/Dockerfile': [],
  'operations/airflow_dag.py': ['run', 'verify', 'load', 'prune'],
  'operations/asset-export.cron': ['run', 'verify', 'load', 'prune'],
  'operations/asset-export.logrotate': [],
  'operations/asset-export.service': ['run', 'verify', 'load', 'prune'],
  'operations/asset-export.timer': [],
  'operations/kubernetes.yaml': ['run', 'verify', 'load', 'prune'],
  'operations/night.sh': ['run', 'verify', 'load', 'prune'],
};
const names = Object.keys(files);
const withCommands = names.filter((name) => files[name]?.length !== 0);
const kubernetes = names.filter((name) => name.endsWith('kubernetes.yaml'));

async function jobIn(text: string): Promise<Job> {
  const folder = await tempFolder();
  writeFileSync(join(folder, 'job.yaml'), text);
  return loadJob({ file: 'job.yaml', environment: {}, folder }).job;
}

it('every shipped file is in this table', () => {
  const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
  const shipped = ['fleet', 'observability', 'operations'].flatMap((folder) =>
    readdirSync(join(docs, folder)).map((name) => `${folder}/${name}`),
  );
  expect(shipped.sort()).toEqual([...names].sort());
});

describe.each(withCommands)('the commands of %s', (name) => {
  const given = commandsOf(name);

  it('are those of a whole night', () => {
    expect(given.map(([command]) => command)).toEqual(files[name]);
  });

  it.each(given.map((argv) => [argv.join(' '), argv] as const))('are taken by the program: %s', async (_, argv) => {
    const [command = '', ...rest] = argv;
    const entry = commandNamed(commands, command);
    const args = parseArguments(entry.name, await entry.load(), rest);
    // Not with a name left to fill in.
    expect(args.words.filter((word) => /[$"']/.test(word))).toEqual([]);
  });
});

it.each(names)('%s names variables that the program reads, and no other', (name) => {
  const known = [...jobFields.map(({ flag }) => environmentName(flag)), 'ASSET_EXPORT_STATE', 'ASSET_EXPORT_API_KEY'];
  const named = [...shippedText(name).matchAll(/\bASSET_EXPORT_[A-Z_]+/g)].map(([variable]) => variable);
  expect(named.filter((variable) => !known.includes(variable))).toEqual([]);
});

describe.each(names.filter((name) => /\.(service|cron|logrotate|sh|py)$/.test(name)))('the paths of %s', (name) => {
  it('are made by a line of its page, or by the unit', () => {
    const text = shippedText(name).replaceAll(/^\s*#.*$/gm, '');
    const page = shippedText(`${name.split('/')[0] ?? ''}.md`);
    const blocks = [...page.matchAll(/^```(?:sh|console)\n([^]*?)^```/gm)].map(([, block]) => block).join('\n');
    const made = [...text.matchAll(/^(State|Cache)Directory=(.*)$/gm)].map(([, kind, folder]) =>
      kind === 'State' ? `/var/lib/${folder ?? ''}` : `/var/cache/${folder ?? ''}`,
    );
    const paths = [...text.matchAll(/(?<![\w.])\/(?:srv|etc|var)\/[\w./@-]+/g)].map(([path]) => path);
    // What the program and the shell make themselves lies in a folder that is made.
    const own = /^\/srv\/assets\/(out\/?|run\.log|warehouse\.duckdb)?$|^\/srv\/assets$/;
    expect(paths.filter((path) => !own.test(path) && !made.includes(path) && !blocks.includes(path))).toEqual([]);
  });
});

describe.each(kubernetes)('every name in %s', (name) => {
  const { objects, pods } = kubernetesObjects(name);
  const head = shippedText(name);
  const named = (kind: string): string[] =>
    objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);
  const secrets = [...head.matchAll(/^# kubectl create secret generic (\S+)(.*)$/gm)].map(
    ([, secret = '', rest = '']) => ({
      secret,
      keys: [...rest.matchAll(/--from-file=(\S+)/g)].map(([, key = '']) => key),
    }),
  );

  // Promise, In operation: Every command, flag, variable, path and name in these files exists
  it('is that of an object in the file, or of a secret that its first lines make', () => {
    for (const { volumes, serviceAccountName } of pods) {
      if (serviceAccountName !== undefined) expect(named('ServiceAccount')).toContain(serviceAccountName);
      for (const { persistentVolumeClaim, configMap, secret } of volumes) {
        if (persistentVolumeClaim !== undefined)
          expect(named('PersistentVolumeClaim')).toContain(persistentVolumeClaim.claimName);
        if (configMap !== undefined) expect(named('ConfigMap')).toContain(configMap.name);
        if (secret !== undefined) expect(secrets.map((each) => each.secret)).toContain(secret.secretName);
      }
    }
    for (const [, secret, key] of head.matchAll(/secretKeyRef: \{ name: (\S+), key: (\S+) \}/g))
      expect(secrets.find((each) => each.secret === secret)?.keys).toContain(key);
  });

  it('is that of a volume which is there, and no volume is idle', () => {
    for (const pod of pods) {
      const mounted = containersOf(pod).flatMap(({ volumeMounts }) => volumeMounts.map((mount) => mount.name));
      expect([...new Set(mounted)].sort()).toEqual(pod.volumes.map((volume) => volume.name).sort());
    }
  });

  it('is that of the image which its first lines make', () => {
    const [, image] = /^# docker build -f docs\/operations\/Dockerfile -t (\S+) /m.exec(head) ?? [];
    expect(pods.flatMap(containersOf).map((container) => container.image)).toEqual(
      pods.flatMap(containersOf).map(() => image),
    );
  });

  it('is a path below a mount', () => {
    const jobs = jobsOf(name).join('\n');
    for (const { volumeMounts, args = [], env } of pods.flatMap(containersOf)) {
      const mounts = volumeMounts.map(({ mountPath }) => mountPath);
      const texts = [...args, ...env.map(({ value = '' }) => value), ...(args[0] === 'run' ? [jobs] : [])].join('\n');
      const paths = [...texts.matchAll(/(?<![\w/.:-]|:\/)\/[a-z][\w./-]*/g)].map(([path]) => path);
      expect(paths.filter((path) => !mounts.some((mount) => path === mount || path.startsWith(`${mount}/`)))).toEqual(
        // A shard: /8
        [],
      );
    }
    const all = pods.flatMap(containersOf).flatMap(({ volumeMounts }) => volumeMounts.map((each) => each.mountPath));
    for (const [, path = ''] of jobs.matchAll(/(?:from|apiKeyFile|dir|scratch): (\/\S+)/g))
      expect(
        all.some((mount) => path.startsWith(mount)),
        path,
      ).toBe(true);
    for (const [, key = ''] of jobs.matchAll(/apiKeyFile: \/secrets\/(\S+)/g))
      expect(secrets.flatMap(({ keys }) => keys)).toContain(key);
  });

  it('and the heap and the limit fit the memory that was measured', async () => {
    // Of a run of 1,000,000 ids as Parquet, with one thread and with two.
    const [, one, two] =
      /^\| Parquet \| \d+ MB \| \d+ MB \| (\d+) MB \| (\d+) MB \|/m.exec(shippedText('performance.md')) ?? [];
    for (const text of jobsOf(name)) {
      const { threads } = (await jobIn(text)).output;
      const measured = Number({ 1: one, 2: two }[threads ?? 0]);
      for (const { resources, env } of pods.flatMap(containersOf)) {
        const limit = Number(/^(\d+)Gi$/.exec(resources.limits.memory)?.[1]) * 1024;
        const heap = Number(
          /^--max-old-space-size=(\d+)$/.exec(env.find((each) => each.name === 'NODE_OPTIONS')?.value ?? '')?.[1],
        );
        expect(limit).toBeGreaterThan(measured * 1.3);
        expect(heap).toBeLessThan(limit / 2);
        expect(heap).toBeGreaterThan(256);
      }
    }
  });
});

describe('the budget', () => {
  const fleetJob = () => jobIn(shippedText('fleet/job.yaml'));

  it.each(kubernetes)('of %s is in its job', async (name) => {
    for (const text of jobsOf(name)) expect((await jobIn(text)).budget.creditsPerDay).toBe(3_000_000);
  });

  // Promise, In operation: A fleet has one budget for all workers
  it('of a fleet is one for all workers, in its job, its ConfigMap and the environment of AWS Batch', async () => {
    const job = await fleetJob();
    expect(job).toMatchObject({ budget: { creditsPerDay: 3_000_000, whenSpent: 'stop' } });
    expect(job.fleet.database).toMatch(/^postgres:/);
    expect(jobsOf('fleet/kubernetes.yaml')).toEqual([shippedText('fleet/job.yaml')]);
    const { environment } = batchSchema.parse(JSON.parse(shippedText('fleet/aws-batch.json'))).jobDefinition
      .containerProperties;
    const { job: inBatch } = loadJob({
      environment: Object.fromEntries(environment.map(({ name, value }) => [name, value])),
    });
    const { budget, fleet, output, ids } = job;
    expect(inBatch).toMatchObject({ budget, fleet, ids, output: { ...output, scratch: '/tmp/scratch' } });
  });

  it('of the other files of a fleet is in job.yaml, which they name', () => {
    for (const name of ['fleet/airflow_dag.py', 'fleet/asset-export-worker@.service', 'fleet/night.sh'])
      for (const [command, job] of commandsOf(name).filter(([each]) => /^(enqueue|work)$/.test(each ?? '')))
        expect(`${command ?? ''} ${job ?? ''}`).toMatch(/ (\/srv\/assets\/)?job\.yaml$/);
  });
});

it('the image holds the optional packages, in the versions that the tests use', () => {
  const [, line = ''] = /asset-export-\*\.tgz \\\n +(.*) \\\n/.exec(shippedText('operations/Dockerfile')) ?? [];
  const wanted = { ...packageJson.peerDependencies, pg: packageJson.optionalDependencies.pg.replace('^', '') };
  expect(line.split(' ').sort()).toEqual(
    Object.entries(wanted)
      .map(([name, version]) => `${name}@${version}`)
      .sort(),
  );
});

describe('the crontab', () => {
  const lines = shippedText('operations/asset-export.cron')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

  it('has lines of cron: variables, then five fields, a user and a command without %', () => {
    const [schedule = '', ...others] = lines.filter((line) => !/^[A-Z_]+=\S*$/.test(line));
    expect(others).toEqual([]);
    expect(schedule).toMatch(/^[0-5]?\d ([01]?\d|2[0-3]) \* \* \* asset-export \S/);
    // cron ends a command at % and gives the rest to its stdin.
    expect(schedule).not.toContain('%');
  });
});
