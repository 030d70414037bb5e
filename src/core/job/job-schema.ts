import type { PartCodec } from '../formats/sink.ts';
import { z } from 'zod';
import { dayMs } from '../../lib/clock.ts';
import {
  postgresAddressExample,
  postgresAddressProblem,
  addressExample,
  addressProblem,
} from '../../lib/addresses/address-kinds.ts';
import { defaultDialect, serviceDialects } from '../client/dialects.ts';
import { hasBase, namedNight, dateWord } from './night-names.ts';
import {
  baseSchema,
  budgetSchema,
  lineageSchema,
  metricsSchema,
  notifySchema,
  address,
  wholeNumber,
  distinct,
  field,
  numberOr,
  oneOrMore,
} from './job-sections.ts';
import { dialectOf } from './job-dialect.ts';
import { assetsTable, changesTable } from '../records/columns.ts';
import { outcomesToRead, unexportedOutcomes } from '../records/id-tables.ts';
import { csvSchema, outputSchema, hasLake } from './output-schema.ts';
import { fileNameWarning } from '../../lib/addresses/address.ts';

const concurrency = z.union([wholeNumber(1).max(1000), z.literal('auto')], {
  error: 'must be a whole number from 1 to 1000, or auto',
});

/** A limit as a count (`20`) or as a share (`'0.5%'`): of the requested ids, unless its description says of what. */
const tolerance = z.union([
  z.int().min(0),
  z.string().regex(/^(\d+|(100|\d{1,2}(\.\d+)?)%)$/, 'must be a count like 20 or a percentage like 0.5%, at most 100%'),
]);

/** How many ids are drawn, or which share of them. */
const sample = z
  .union([z.int(), z.string()])
  .transform(String)
  .refine(
    (text) =>
      /^([1-9]\d*|(100|\d{1,2})(\.\d+)?%)$/.test(text) && Number.parseFloat(text) > 0 && !/^100\.0*[1-9]/.test(text),
    'must be a count from 1, or a percentage above 0% and at most 100%',
  );

/** Prefix of an address that names local records. */
export const embedded = 'embedded:';

/** Maximum ids per call, as the service documents it. */
const documentedIdsPerCall = 1000;

/** Whether an address of the service names local records. */
export function isEmbedded(url: string): boolean {
  return url.startsWith(embedded);
}

const serviceUrl = z
  .string()
  .min(1)
  .superRefine((url, context) => {
    if (url !== embedded) return;
    context.addIssue({ code: 'custom', message: `has no path: write ${embedded}PATH`, input: url });
  });

/** What the dialect adds to the address is not to be there already. */
function checkUrl(
  { url, dialect }: { readonly url: string; readonly dialect?: string | undefined },
  context: z.RefinementCtx,
): void {
  const problem = problemOf(url.trim(), dialectOf(dialect).path);
  if (problem !== undefined) context.addIssue({ code: 'custom', path: ['url'], message: problem, input: url });
}

function problemOf(url: string, path: string): string | undefined {
  // An empty one is already reported by its length.
  const problem = url === '' || isEmbedded(url) ? undefined : addressProblem(url, path);
  return problem === undefined ? undefined : `${problem}. ${addressExample}`;
}

const pemFile = (description: string) => z.string().min(1).optional().describe(description);

const tlsSchema = z
  .strictObject({
    cert: pemFile('PEM file with the certificate of this client, then those of its chain'),
    key: pemFile('PEM file with the private key of this certificate, not encrypted'),
    ca: pemFile('PEM file with the certificate authorities to trust instead of the usual ones'),
  })
  .superRefine((tls, context) => {
    if ((tls.cert === undefined) === (tls.key === undefined)) return;
    const [path, other] = tls.cert === undefined ? ['cert', 'key'] : ['key', 'cert'];
    context.addIssue({
      code: 'custom',
      path: [path],
      message: `must be set when service.tls.${other} is set`,
      input: tls,
    });
  })
  .optional()
  .meta({ inFileOnly: true, description: 'client certificate and certificate authorities of an https service' });

const databaseAddress = z.string().superRefine((address, context) => {
  const problem = postgresAddressProblem(address);
  if (problem === undefined) return;
  context.addIssue({ code: 'custom', message: `${problem}. ${postgresAddressExample}`, input: address });
});

const jobFieldsSchema = z.strictObject({
  ids: z.strictObject({
    from: field(oneOrMore(address('ids')), {
      flag: 'ids',
      value: 'PATH',
      description: 'files of asset ids, in this order; globs and s3://bucket/ids/*.txt work, - is stdin',
    }),
    format: field(z.enum(['lines', 'csv', 'json', 'jsonl', 'parquet']).optional(), {
      flag: 'ids-format',
      description: 'format of the id files (default: by file extension)',
    }),
    column: field(z.string().min(1).optional(), {
      flag: 'id-column',
      value: 'NAME',
      description: 'column or member with the id (default: id, mint or alike, else the only one)',
    }),
    outcome: field(distinct(z.enum(unexportedOutcomes)).default([...outcomesToRead]), {
      flag: 'outcome',
      description: 'which ids to read from files of unexported/',
    }),
    limit: field(wholeNumber(1).optional(), {
      flag: 'limit',
      value: 'N',
      description: 'read only the first N ids; the result is an export of its own',
    }),
    sample: field(sample.optional(), {
      flag: 'sample',
      value: 'N|P%',
      description: 'read about N ids, or P%, drawn by a fixed hash: an export apart',
    }),
  }),
  service: z
    .strictObject({
      url: field(serviceUrl, {
        flag: 'url',
        value: 'BASE',
        description: 'address of the service, without /v3/<key>; embedded:PATH uses local records instead',
      }),
      dialect: field(z.string().min(1).optional(), {
        flag: 'dialect',
        value: 'NAME|FILE',
        description: `dialect: ${serviceDialects.map(({ name }) => name).join(', ')}, or a YAML file (default: ${defaultDialect.name})`,
      }),
      apiKeyFile: field(address('local').optional(), {
        flag: 'api-key-file',
        value: 'FILE',
        description: 'file with the API key (else the environment variable ASSET_EXPORT_API_KEY)',
      }),
      idsPerCall: field(wholeNumber(1).max(1_000_000).default(documentedIdsPerCall), {
        flag: 'ids-per-call',
        value: 'N',
        description: 'maximum ids per call',
      }),
      concurrency: field(numberOr(concurrency).default('auto'), {
        flag: 'concurrency',
        value: 'N|auto',
        description: 'most calls in flight; auto: as many as make answers come faster, up to 128',
      }),
      flags: z
        .strictObject({
          showFungible: field(z.boolean().default(false), {
            flag: 'show-fungible',
            description: 'request token_info',
          }),
          showCollectionMetadata: field(z.boolean().default(false), {
            flag: 'show-collection-metadata',
            description: 'request the metadata of collections',
          }),
          showUnverifiedCollections: field(z.boolean().default(false), {
            flag: 'show-unverified-collections',
            description: 'request each missing id alone: it may be in an unverified collection',
          }),
        })
        .prefault({}),
      singles: field(z.boolean().default(true), {
        flag: 'singles',
        description:
          'allow the single calls of --show-unverified-collections; each costs a call (--no-singles forbids them)',
      }),
      timeoutMs: field(wholeNumber(1).max(dayMs).default(60_000), {
        flag: 'timeout-ms',
        value: 'MS',
        description: 'time limit of a call, without the wait of its answer for memory',
      }),
      retries: field(wholeNumber(0).max(1000).default(8), {
        flag: 'retries',
        value: 'N',
        description: 'how often an outage is probed again; what never answered is tried for 30 s',
      }),
      tls: tlsSchema,
    })
    .superRefine(checkUrl),
  budget: budgetSchema,
  base: baseSchema,
  output: outputSchema,
  fleet: z
    .strictObject({
      database: field(databaseAddress.optional(), {
        flag: 'fleet',
        value: 'ADDRESS',
        description:
          'postgres://user@host/database for a shared ledger and pace; password from PGPASSWORD or PGPASSFILE',
      }),
      entriesPerSlice: field(wholeNumber(1).max(1_000_000_000).default(1_000_000), {
        flag: 'entries-per-slice',
        value: 'N',
        description: 'ids per slice, in whole parts, of an export in a bucket; one process makes a slice',
      }),
      deadAfterSeconds: field(wholeNumber(1).max(3600).default(60), {
        flag: 'dead-after-seconds',
        value: 'N',
        description: 'seconds without a sign of life until others resume an export in a bucket',
      }),
    })
    .prefault({}),
  csv: csvSchema,
  tolerance: z
    .strictObject({
      maxMissing: field(tolerance.optional(), {
        flag: 'max-missing',
        value: 'N|P%',
        description: 'tolerated missing ids, else exit 3 (default: 100%; with a base 20% of requested rows)',
      }),
      allowNone: field(z.boolean().default(false), {
        flag: 'allow-none',
        description: 'go on if the first 1,000 ids are all missing (without it: exit 3)',
      }),
      maxFailed: field(tolerance.default(0), {
        flag: 'max-failed',
        value: 'N|P%',
        description: 'tolerated failed ids, else exit 3',
      }),
      maxInvalid: field(tolerance.default('50%'), {
        flag: 'max-invalid',
        value: 'N|P%',
        description: 'tolerated invalid ids (P% of all ids read), else exit 3',
      }),
      maxUnlisted: field(tolerance.default('20%'), {
        flag: 'max-unlisted',
        value: 'N|P%',
        description: 'tolerated assets of the base that the ids lack (P%); more: exit 3, set aside',
      }),
      maxUnproven: field(tolerance.default('100%'), {
        flag: 'max-unproven',
        value: 'N|P%',
        description: 'tolerated rows with a false verdict of output.proofs (P% of those judged), else exit 3',
      }),
    })
    .prefault({}),
  metrics: metricsSchema,
  notify: notifySchema,
  lineage: lineageSchema,
});

export const jobSchema = jobFieldsSchema.superRefine((job, context) => {
  const { limit, sample: drawn } = job.ids;
  if (limit !== undefined && drawn !== undefined)
    context.addIssue({
      code: 'custom',
      path: ['ids', 'sample'],
      input: drawn,
      message: 'must not be given with limit',
    });
  checkBase(job, (message, input, ...path) => {
    context.addIssue({ code: 'custom', path, input, message });
  });
  checkNights(job, (message, input, ...path) => {
    context.addIssue({ code: 'custom', path, input, message });
  });
});

/** Refuses what follows nights where there are none. An export of the first ids alone is not published. */
function checkNights({ ids, output }: z.infer<typeof jobFieldsSchema>, refuse: Refuse): void {
  const hasNights = namedNight(output.dir, output.dir) !== undefined;
  if (output.keep !== undefined && !hasNights)
    refuse('must have {date} for output.keep: it removes nights of its own pattern', output.dir, 'output', 'dir');
  if (!hasLake({ output }) || (ids.sample ?? ids.limit) !== undefined) return;
  if (!output.formats.includes('parquet'))
    refuse('must name parquet for output.lake: Iceberg tables name Parquet files', output.formats, 'output', 'formats');
  else if (!hasNights)
    refuse('must have {date} for output.lake: each night is a snapshot', output.dir, 'output', 'dir');
}

type Refuse = (message: string, input: unknown, ...path: (string | number)[]) => void;

/** Refuses what does not go with a base, or wants one. */
function checkBase(job: z.infer<typeof jobFieldsSchema>, refuse: Refuse): void {
  const { tables, formats } = job.output;
  const at = tables.indexOf(changesTable.name);
  if (!hasBase(job)) {
    const message = 'must not name changes without base.from: without a base nothing is compared';
    if (at >= 0) refuse(message, changesTable.name, 'output', 'tables', at);
    return;
  }
  const ages = 'the age of each row is in the column fetched_at of assets';
  if (!tables.includes(assetsTable.name))
    refuse(`must name assets with base.from: ${ages}`, tables, 'output', 'tables');
  if (!formats.some((format) => format !== 'raw'))
    refuse(`must include a format other than raw when base.from is set: ${ages}`, formats, 'output', 'formats');
}

/** A job as a file or a program gives it: fields with defaults are optional. */
export type JobInput = z.input<typeof jobSchema>;

/** A job of which something else, a flag or an option, gives what is required. */
export type PartOfJob = Partial<{
  [Name in keyof JobInput]: Name extends 'ids' | 'service' | 'output' ? Partial<JobInput[Name]> : JobInput[Name];
}>;

type CheckedJob = z.infer<typeof jobSchema>;

/** A job with all defaults filled in. */
export type Job = Omit<CheckedJob, 'output'> & {
  output: Omit<CheckedJob['output'], 'compression'> & {
    /** Of `raw` there is one codec more, for records that the program keeps for itself. No job file names it. */
    compression: Omit<CheckedJob['output']['compression'], 'raw'> & { raw: PartCodec };
  };
};

export function isDated({ output }: Job): boolean {
  return output.dir.includes(dateWord);
}

/** The job with the folder of a day (`YYYY-MM-DD`); the same job where its folder holds no `{date}`. */
export function jobOn(job: Job, day: string): Job {
  if (!isDated(job)) return job;
  return { ...job, output: { ...job.output, dir: job.output.dir.replaceAll(dateWord, day) } };
}

/** Whether runs of a job are followed by more than their progress. */
export function isFollowed(job: Pick<Job, 'metrics' | 'notify' | 'lineage'>, environment: NodeJS.ProcessEnv): boolean {
  return hasMetrics(job) || job.notify.length > 0 || mayHaveLineage(job, environment);
}

export function hasMetrics({ metrics: { listen, file } }: Pick<Job, 'metrics'>): boolean {
  return listen !== undefined || file !== undefined;
}

/** The environment may name who takes lineage for all jobs. */
export function mayHaveLineage({ lineage: { url } }: Pick<Job, 'lineage'>, environment: NodeJS.ProcessEnv): boolean {
  return url !== undefined || (environment['OPENLINEAGE_URL'] ?? '') !== '';
}

/** Warnings about allowed but suspicious values. */
export function jobWarnings({ service, output }: Job): string[] {
  const { idsPerCall } = service;
  const likeFile = fileNameWarning(output.dir);
  const warnings = likeFile === undefined ? [] : [likeFile];
  if (idsPerCall <= documentedIdsPerCall) return warnings;
  return [
    ...warnings,
    `service.idsPerCall is ${idsPerCall}, but services accept at most ${documentedIdsPerCall}; larger calls are refused, split and paid again`,
  ];
}

/** What a job reads of its ids: the first so many, or a sample; undefined for all of them. */
export function someIdsOf({ limit, sample }: Pick<Job['ids'], 'limit' | 'sample'>): number | string | undefined {
  return sample ?? limit;
}
