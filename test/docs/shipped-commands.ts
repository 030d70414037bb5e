import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

export function shippedText(path: string): string {
  return readFileSync(join(docs, path), 'utf8');
}

const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()).optional(),
  args: z.array(z.string()).optional(),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).default([]),
  resources: z.object({ limits: z.object({ memory: z.string() }) }).loose(),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
});

const podSchema = z.looseObject({
  serviceAccountName: z.string().optional(),
  initContainers: z.array(containerSchema).default([]),
  containers: z.array(containerSchema),
  volumes: z.array(
    z.looseObject({
      name: z.string(),
      persistentVolumeClaim: z.looseObject({ claimName: z.string() }).optional(),
      configMap: z.looseObject({ name: z.string() }).optional(),
      secret: z.looseObject({ secretName: z.string() }).optional(),
    }),
  ),
});

const templateSchema = z.object({ template: z.object({ spec: podSchema }) });
const objectSchema = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });

export type Container = z.infer<typeof containerSchema>;
export type Pod = z.infer<typeof podSchema>;

/** The objects of a Kubernetes file, and the pods that they start. */
export function kubernetesObjects(path: string) {
  const objects = parseAllDocuments(shippedText(path)).map((each) => objectSchema.parse(each.toJS()));
  const pods = objects.flatMap(({ kind, spec }) => {
    if (kind === 'Job') return [templateSchema.parse(spec).template.spec];
    if (kind !== 'CronJob') return [];
    const { jobTemplate } = z.object({ jobTemplate: z.object({ spec: templateSchema }) }).parse(spec);
    return [jobTemplate.spec.template.spec];
  });
  return { objects, pods };
}

export function containersOf({ initContainers, containers }: Pod): Container[] {
  return [...initContainers, ...containers];
}

/** The job files that the ConfigMaps of a Kubernetes file hold. */
export function jobsOf(path: string): string[] {
  return kubernetesObjects(path)
    .objects.filter(({ kind }) => kind === 'ConfigMap')
    .map((each) => z.object({ data: z.object({ 'job.yaml': z.string() }) }).parse(each).data['job.yaml']);
}

/** What is published of AWS Batch: https://docs.aws.amazon.com/batch/latest/APIReference/API_RetryStrategy.html and its neighbours. */
export const batchSchema = z.strictObject({
  jobDefinition: z.strictObject({
    jobDefinitionName: z.string().regex(/^[\w-]{1,128}$/),
    type: z.literal('container'),
    platformCapabilities: z.tuple([z.literal('FARGATE')]),
    timeout: z.strictObject({ attemptDurationSeconds: z.number().int().min(60) }),
    retryStrategy: z.strictObject({
      attempts: z.number().int().min(1).max(10),
      evaluateOnExit: z
        .array(
          z.strictObject({
            onExitCode: z
              .string()
              .regex(/^\d{1,3}\*?$/)
              .optional(),
            onReason: z.string().max(512).optional(),
            onStatusReason: z.string().max(512).optional(),
            action: z.enum(['RETRY', 'EXIT']),
          }),
        )
        .max(5),
    }),
    containerProperties: z.strictObject({
      image: z.string(),
      jobRoleArn: z.string().startsWith('arn:aws:iam::'),
      // Fargate pulls the image and reads the secrets with it.
      executionRoleArn: z.string().startsWith('arn:aws:iam::'),
      // Fargate gives 2 to 8 GB to a vCPU.
      resourceRequirements: z.tuple([
        z.strictObject({ type: z.literal('VCPU'), value: z.literal('1') }),
        z.strictObject({ type: z.literal('MEMORY'), value: z.enum(['2048', '3072', '4096']) }),
      ]),
      ephemeralStorage: z.strictObject({ sizeInGiB: z.number().int().min(21).max(200) }),
      environment: z.array(
        z.strictObject({ name: z.string().refine((name) => !name.startsWith('AWS_BATCH')), value: z.string() }),
      ),
      secrets: z.array(z.strictObject({ name: z.string(), valueFrom: z.string().startsWith('arn:aws:') })),
    }),
  }),
  submitJobs: z.array(
    z.strictObject({
      jobName: z.string().regex(/^[\w-]{1,128}$/),
      jobQueue: z.string(),
      jobDefinition: z.string(),
      arrayProperties: z.strictObject({ size: z.number().int().min(2).max(10_000) }).optional(),
      containerOverrides: z.strictObject({ command: z.array(z.string()) }),
    }),
  ),
});

/** Each command of a shipped file in its order, as the program gets it. */
export function commandsOf(path: string): string[][] {
  if (path.endsWith('kubernetes.yaml')) return kubernetesObjects(path).pods.flatMap(commandsOfPod);
  if (path.endsWith('.json'))
    return batchSchema
      .parse(JSON.parse(shippedText(path)))
      .submitJobs.map(({ containerOverrides: { command } }) => command);
  return commandsOfText(shippedText(path));
}

function commandsOfPod(pod: Pod): string[][] {
  return containersOf(pod).flatMap(({ command, args = [], env }) => {
    if (command === undefined) return [args];
    if (command.join(' ') !== 'asset-export-night') throw new Error(`no command of the image: ${command.join(' ')}`);
    return commandsOfText(
      shippedText('operations/night.sh'),
      Object.fromEntries(env.map(({ name, value = '' }) => [name, value])),
    );
  });
}

/** The commands of a script, a unit, a crontab or a DAG; a night script stands for its own. */
function commandsOfText(text: string, environment: Readonly<Record<string, string>> = {}): string[][] {
  const code = text.replaceAll(/^\s*#.*$/gm, '');
  const values = new Map<string, string>();
  for (const [, name = '', value = ''] of code.matchAll(/^(\w+) ?= ?f?"?([^"\n]*?)"?(?: +#.*)?$/gm))
    values.set(name, environment[name] ?? filled(value.replace(/^\$\{\w+:-(.*)\}$/, '$1'), values));
  return code.split('\n').flatMap((line) => {
    const script = /(?:sh|\/bin\/sh) (?:\S*\/)?(night\.sh)\b(.*)/.exec(line);
    if (script !== null) {
      const [first = [], ...rest] = commandsOfText(shippedText(`operations/${basename(script[1] ?? '')}`));
      return [[...first, ...wordsOf(/^[^>|]*/.exec(script[2] ?? '')?.[0] ?? '', values)], ...rest];
    }
    const [, command] = /(?:^step|\basset-export) ((?:[a-z]+)(?: [^"\n]*|"\$\w+[^"]*")*)/.exec(line) ?? [];
    return command === undefined ? [] : [wordsOf(command, values)];
  });
}

function filled(text: string, values: ReadonlyMap<string, string>): string {
  return text
    .replaceAll(/\$\{?([A-Z]+)\}?|\{([A-Z]+)\}/g, (whole, shell?: string, python?: string) => {
      return values.get(shell ?? python ?? '') ?? whole;
    })
    .replaceAll('{n}', '0')
    .replaceAll(/\{\{ ds \}\}|\$1/g, '2026-01-31');
}

function wordsOf(command: string, values: ReadonlyMap<string, string>): string[] {
  return filled(command, values)
    .replaceAll(/"\$@"|"\s*[,)].*$/g, '')
    .replaceAll('"', '')
    .split(' ')
    .filter((word) => word !== '');
}
