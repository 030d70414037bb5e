import { z } from 'zod';
import { dayMs } from '../lib/clock.ts';
import { count, field, oneOrMore } from './field.ts';
import { csvSchema, outputSchema } from './output-schema.ts';

/** A limit as a count of ids (`20`) or as a share of the valid ids (`'0.5%'`). */
const tolerance = z.union([
  z.int().min(0),
  z.string().regex(/^(\d+|(100|\d{1,2}(\.\d+)?)%)$/, 'must be a count like 20 or a share like 0.5%, at most 100%'),
]);

/** Begins an address that names local records. */
export const embedded = 'embedded:';

const serviceUrl = z
  .string()
  .min(1)
  .refine((url) => url !== embedded, `names no records: write ${embedded}PATH`);

export const jobSchema = z.strictObject({
  ids: z.strictObject({
    from: field(oneOrMore(z.string().min(1)), {
      flag: 'ids',
      value: 'PATH',
      description: 'files of asset ids, in this order; globs, and - for stdin',
    }),
    format: field(z.enum(['lines', 'csv', 'json', 'jsonl', 'parquet']).optional(), {
      flag: 'ids-format',
      description: 'how the ids are written (default: by the file extension)',
    }),
    column: field(z.string().min(1).optional(), {
      flag: 'id-column',
      value: 'NAME',
      description: 'column or member that holds the id (default: id, else mint, else the first)',
    }),
  }),
  service: z.strictObject({
    url: field(serviceUrl, {
      flag: 'url',
      value: 'BASE',
      description: 'address of the service, without /v3/<key>; embedded:PATH answers from local records instead',
    }),
    apiKeyFile: field(z.string().min(1).optional(), {
      flag: 'api-key-file',
      value: 'FILE',
      description: 'file that holds the API key (else the environment variable ASSET_EXPORT_API_KEY)',
    }),
    idsPerCall: field(count(1).max(1_000_000).default(1000), {
      flag: 'ids-per-call',
      value: 'N',
      description: 'ids asked for in one call',
    }),
    concurrency: field(count(1).max(1000).default(8), {
      flag: 'concurrency',
      value: 'N',
      description: 'calls in flight at once, at most',
    }),
    flags: z
      .strictObject({
        showFungible: field(z.boolean().default(false), {
          flag: 'show-fungible',
          description: 'ask for token_info',
        }),
        showCollectionMetadata: field(z.boolean().default(false), {
          flag: 'show-collection-metadata',
          description: 'ask for the metadata of collections',
        }),
        showUnverifiedCollections: field(z.boolean().default(false), {
          flag: 'show-unverified-collections',
          description: 'ask again, one call an id, for ids that are missing: they may be in unverified collections',
        }),
      })
      .prefault({}),
    singles: field(z.boolean().default(true), {
      flag: 'singles',
      description: 'allow the single calls of --show-unverified-collections (each is paid; --no-singles forbids them)',
    }),
    timeoutMs: field(count(1).max(dayMs).default(60_000), {
      flag: 'timeout-ms',
      value: 'MS',
      description: 'time for one whole exchange, at most a day',
    }),
    retries: field(count(0).max(1000).default(8), {
      flag: 'retries',
      value: 'N',
      description: 'further attempts of a call that failed',
    }),
  }),
  budget: z
    .strictObject({
      creditsPerCall: field(count(0).default(160), {
        flag: 'credits-per-call',
        value: 'N',
        description: 'what the service charges for a call',
      }),
      creditsPerRun: field(count(0).optional(), {
        flag: 'credits-per-run',
        value: 'N',
        description: 'credits this run may spend',
      }),
      creditsPerDay: field(count(0).optional(), {
        flag: 'credits-per-day',
        value: 'N',
        description: 'credits all runs with this key may spend in a UTC day',
      }),
      creditsPerSecond: field(z.number().positive().optional(), {
        flag: 'credits-per-second',
        value: 'N',
        description: 'pace of the calls',
      }),
      whenSpent: field(z.enum(['stop', 'wait']).default('stop'), {
        flag: 'when-spent',
        description: 'stop with exit 8, or wait for 00:00 UTC and go on',
      }),
      freeStatuses: field(oneOrMore(z.int().min(300).max(599)).default([]), {
        flag: 'free-statuses',
        value: 'STATUS',
        description: 'HTTP statuses that the provider is known not to charge for: such calls are given back',
      }),
    })
    .prefault({}),
  output: outputSchema,
  csv: csvSchema,
  tolerance: z
    .strictObject({
      maxMissing: field(tolerance.default('100%'), {
        flag: 'max-missing',
        value: 'N|P%',
        description: 'missing ids that are tolerated; more end the run with exit 3',
      }),
      maxFailed: field(tolerance.default(0), {
        flag: 'max-failed',
        value: 'N|P%',
        description: 'failed ids that are tolerated; more end the run with exit 3',
      }),
    })
    .prefault({}),
});

/** A job whose defaults are filled in. */
export type Job = z.infer<typeof jobSchema>;
