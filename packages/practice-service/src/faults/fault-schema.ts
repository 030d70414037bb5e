import { z } from 'zod';
import { listMethods } from '../lists/list-query.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);
const ids = z.array(z.string());

/** Conditions of a fault: a call must meet all of them. */
const whenSchema = z
  .strictObject({
    first: count.optional().describe('only the first N calls'),
    after: count.optional().describe('only calls after the first N'),
    every: z.int().min(1).optional().describe('only every Nth call'),
    attempts: count.optional().describe('only the first N requests for the same batch'),
    probability: share.optional().describe('only this share of calls, drawn by seed, batch and attempt'),
    method: z.enum(['getAsset', 'getAssets', ...Object.values(listMethods), 'getGrouping']).optional(),
    ids: ids.optional().describe('only calls with one of these ids'),
    minIds: count.optional().describe('only calls with at least N ids'),
  })
  .optional();

const common = {
  when: whenSchema,
  charged: z.union([z.boolean(), count]).optional().describe('whether a refused call costs credits, or how many'),
};

/** Where in the body something happens: after so many bytes, or after a share of them. */
const place = { afterBytes: count.optional(), afterShare: share.optional() };
const retryAfter = {
  retryAfter: z
    .union([z.string(), z.number()])
    .optional()
    .describe('Retry-After as it is sent: seconds, a date, anything'),
  retryAfterDateS: z.number().optional().describe('Retry-After as the date N seconds from now'),
};

export const refusalForms = [
  'day',
  'dayOlder',
  'second',
  'secondOlder',
  'key',
  'rate',
  'badKey',
  'disabledKey',
  'forbiddenKey',
  'missingKey',
] as const;

export const faultSchema = z.discriminatedUnion('fault', [
  z.strictObject({ fault: z.literal('latency'), ms: count, jitterMs: count.default(0), ...common }),
  z.strictObject({
    fault: z.literal('status'),
    status: z.int().min(200).max(599),
    body: z.enum(['html', 'text', 'json', 'empty']).default('html'),
    ...retryAfter,
    ...common,
  }),
  z.strictObject({ fault: z.literal('refusal'), form: z.enum(refusalForms), ...retryAfter, ...common }),
  z.strictObject({
    fault: z.literal('redirect'),
    status: z.union([z.literal(301), z.literal(302), z.literal(303), z.literal(307), z.literal(308)]).default(307),
    location: z.string().default('/v3/redirected'),
    ...common,
  }),
  z.strictObject({ fault: z.literal('reset'), ...place, clean: z.boolean().default(false), ...common }),
  z.strictObject({ fault: z.literal('hang'), ...place, ...common }),
  z.strictObject({
    fault: z.literal('drip'),
    bytes: z.int().min(1).default(1),
    everyMs: count.default(1000),
    ...common,
  }),
  z.strictObject({ fault: z.literal('cut'), ...place, ...common }),
  z.strictObject({ fault: z.literal('malformed'), ...common }),
  z.strictObject({ fault: z.literal('html'), ...common }),
  z.strictObject({
    fault: z.literal('body'),
    text: z.string(),
    status: z.int().min(200).max(599).default(200),
    contentType: z.string().default('application/json'),
    ...common,
  }),
  z.strictObject({ fault: z.literal('contentType'), value: z.string(), ...common }),
  z.strictObject({ fault: z.literal('byteOrderMark'), ...common }),
  z.strictObject({ fault: z.literal('gzip'), cut: z.boolean().default(false), ...common }),
  z.strictObject({ fault: z.literal('gzipBomb'), bytes: z.int().min(1).default(1_000_000_000), ...common }),
  z.strictObject({ fault: z.literal('flood'), bytes: z.int().min(1).default(1_000_000_000), ...common }),
  z.strictObject({
    fault: z.literal('envelope'),
    form: z.enum(['both', 'neither', 'bare', 'wrapped', 'nullResult', 'objectResult', 'textResult']),
    ...common,
  }),
  z.strictObject({ fault: z.literal('responseId'), id: z.json(), ...common }),
  z.strictObject({
    fault: z.literal('error'),
    code: z.int(),
    message: z.string(),
    status: z.int().min(200).max(599).default(200),
    ...common,
  }),
  z.strictObject({
    fault: z.literal('notFound'),
    code: z.int().default(-32000),
    message: z.string().default('Database Error RecordNotFound Error: Asset Not Found'),
    ...common,
  }),
  z.strictObject({
    fault: z.literal('malformedKey'),
    code: z.int().default(-32602),
    message: z.string().default('Invalid params: invalid public key'),
    ...common,
  }),
  z.strictObject({
    fault: z.literal('poison'),
    ids: ids.min(1),
    code: z.int().default(-32000),
    message: z.string().default('Pubkey Validation Err: {id} is invalid'),
    ...common,
  }),
  z.strictObject({
    fault: z.literal('cap'),
    maxIds: z.int().min(0),
    form: z
      .enum(['invalidParams', 'execution', 'http413', 'responseTooBig', 'responseTooBigOlder'])
      .default('invalidParams'),
    ...common,
  }),
  z.strictObject({
    fault: z.literal('missing'),
    as: z.enum(['null', 'omitted', 'object', 'entry', 'error']).default('null'),
    status: z.int().min(200).max(599).default(200).describe('of an answer that is this error'),
    ids: ids.optional(),
    share: share.optional(),
    forgetful: z.boolean().default(false).describe('draws the share again on each attempt'),
    unverified: z.boolean().default(false).describe('also assets of unverified collections'),
    ...common,
  }),
  z.strictObject({
    fault: z.literal('unproven'),
    ids: ids.optional(),
    share: share.default(0).describe('of the compressed assets'),
    ...common,
  }),
  z.strictObject({ fault: z.literal('shuffled'), ...common }),
  z.strictObject({ fault: z.literal('dropRepeats'), ...common }),
  z.strictObject({ fault: z.literal('repeated'), share: share.default(0.1), ...common }),
  z.strictObject({ fault: z.literal('foreign'), count: count.default(1), ids: ids.optional(), ...common }),
  z.strictObject({
    fault: z.literal('idless'),
    count: count.default(1),
    instead: z.boolean().default(false),
    ...common,
  }),
  z.strictObject({
    fault: z.literal('dropped'),
    ids: ids.optional(),
    share: share.optional(),
    window: z.tuple([share, share]).optional(),
    asErrors: z.boolean().default(false),
    ...common,
  }),
  z.strictObject({
    fault: z.literal('members'),
    come: count.default(0),
    leave: count.default(0),
    calls: z.int().min(1).default(1),
    most: count.default(100),
    ...common,
  }),
  z.strictObject({ fault: z.literal('again'), ignoreRange: z.boolean().default(false), ...common }),
  z.strictObject({ fault: z.literal('cursor'), form: z.enum(['opaque']), ...common }),
  z.strictObject({ fault: z.literal('direction'), form: z.enum(['desc']), ...common }),
  z.strictObject({
    fault: z.literal('total'),
    of: z.enum(['rows', 'shown']).default('rows'),
    off: z.int().default(0),
    ...common,
  }),
  z.strictObject({ fault: z.literal('pageLimit'), pages: count, ...common }),
]);

/** A fault file. */
export const faultsSchema = z.strictObject({ seed: z.int().default(0), faults: z.array(faultSchema) });

export type Fault = z.output<typeof faultSchema>;
export type FaultOf<Kind extends Fault['fault']> = Extract<Fault, { fault: Kind }>;
/** What a service is to suffer from, as checked by `faultsSchema`. */
export type Faults = z.output<typeof faultsSchema>;
/** The same as a person writes it. */
export type FaultsInput = z.input<typeof faultsSchema>;
