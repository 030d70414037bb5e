import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { addressIssue, type AddressUse } from '../../lib/addresses/address.ts';
import { nearestName } from '../../lib/format-text.ts';
import { assetsTable } from '../records/columns.ts';
import { whenProblem } from '../records/classify-assets.ts';
import { accountPattern, accountRule } from '../client/ledger/ledger-file.ts';
import { autoCalls, defaultOverrun, noOverrun } from '../client/policies/shared-pace.ts';

/** Command line form of a job field. Help, docs and flags are generated from it. */
export interface FieldMeta {
  /** Flag name without dashes. */
  readonly flag: string;
  readonly description: string;
  /** Placeholder of the value in help. */
  readonly value?: string;
}

export function field<T extends z.ZodType>(schema: T, meta: FieldMeta): T {
  return schema.meta({ ...meta });
}

/** One value or a list: job files may omit the brackets, flags may be repeated or contain commas. */
export function oneOrMore<T extends z.ZodType>(item: T) {
  return z.preprocess(
    (value: z.input<T> | readonly z.input<T>[]): unknown => (Array.isArray(value) ? value : [value]),
    z.array(item).min(1),
  );
}

/** The same without repeated values. */
export function distinct<T extends z.ZodType>(item: T) {
  return z.preprocess(
    (value: z.input<T> | readonly z.input<T>[]): unknown =>
      Array.isArray(value) ? [...new Set(value as unknown[])] : [value],
    z.array(item).min(1),
  );
}

/** An address. `loadJob` checks it as it was given, and leaves absolute paths. */
export function address(use: AddressUse) {
  return z
    .string()
    .min(1)
    .superRefine((text, context) => {
      const message = text === '' || isAbsolute(text) ? undefined : addressIssue(text, use);
      if (message !== undefined) context.addIssue({ code: 'custom', message, input: text, params: { hidden: true } });
    });
}

/** A number or a word. Flags and variables give numbers as text. */
export function numberOr<T extends z.ZodType>(schema: T) {
  return z.preprocess(
    (value: z.input<T>): unknown => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value),
    schema,
  );
}

export const wholeNumber = (least: number) => z.int().min(least);

/** The keys of a base have six bits for the class, and one class is that of the assets that fit no other. */
const mostClasses = 63;

const age = z
  .string()
  .regex(/^(\d{1,5}[hd]|never)$/, 'must be hours or days like 12h or 7d, or never')
  .describe('12h, 7d or never');

const whenWord = z.string().superRefine((word, context) => {
  const message = whenProblem(word);
  if (message !== undefined) context.addIssue({ code: 'custom', message, input: word });
});

const columnNames = assetsTable.columns.map(({ name }) => name);

/** A column, or a path in `extra`. */
const ignoredName = z
  .string()
  .min(1)
  .superRefine((name, context) => {
    if (name === '' || columnNames.includes(name) || /^extra\../.test(name)) return;
    const near = nearestName(name, columnNames);
    const message = `must name columns of assets, or paths that begin with extra.${near === undefined ? '' : `; did you mean ${near}?`}`;
    context.addIssue({ code: 'custom', message, input: name });
  });

/** A moment, as ISO 8601 has it: a day, or a day and a time with its offset. */
const moment = z
  .string()
  .refine(
    (text) => z.union([z.iso.date(), z.iso.datetime({ offset: true })]).safeParse(text).success,
    'must be a time like 2026-11-20 or 2026-11-20T02:00:00Z',
  );

export const baseSchema = z
  .strictObject({
    from: field(address('base').optional(), {
      flag: 'base',
      value: 'PATH',
      description: 'earlier export whose fresh rows are reused; a glob: the last complete one; or none',
    }),
    first: field(z.enum(['error', 'request']).default('error'), {
      flag: 'base-first',
      description: 'if base.from matches no complete export: exit 4 (error), or request everything (request)',
    }),
    maxAge: field(age.default('7d'), {
      flag: 'max-age',
      value: 'AGE',
      description: 'age from which rows of the base are requested again: 12h, 7d or never',
    }),
    classes: z
      .array(z.strictObject({ when: oneOrMore(whenWord), maxAge: age }))
      .max(mostClasses)
      .default([])
      .meta({
        inFileOnly: true,
        description: 'maximum ages by class: the first class whose words all fit an asset decides instead of maxAge',
      }),
    missingAfter: field(age.default('7d'), {
      flag: 'missing-after',
      value: 'AGE',
      description: 'ids that the service did not know are requested again after this time',
    }),
    maxCredits: field(wholeNumber(0).optional(), {
      flag: 'base-credits',
      value: 'N',
      description: 'most credits to request rows of the base again; the rest is carried, overdue',
    }),
    ignore: field(oneOrMore(ignoredName).default(['extra.token_info.price_info', 'extra.last_indexed_slot']), {
      flag: 'ignore',
      value: 'NAME',
      description: 'columns, and paths in extra, that alone make no update in the table changes',
    }),
    fetchedAt: field(moment.optional(), {
      flag: 'base-fetched-at',
      value: 'TIME',
      description: 'when the rows of the base were requested, if the base does not record it',
    }),
  })
  .prefault({});

export type Base = z.infer<typeof baseSchema>;

const overrunForms = 'must be a percentage like 50%, a number of calls like 250 or auto, both, or none';

const overrunPart = numberOr(z.union([z.int().min(0), z.string().regex(/^(\d+(\.\d+)?%|auto|none)$/, overrunForms)]));

const overrun = oneOrMore(overrunPart)
  .superRefine((parts, context) => {
    const kinds = parts.map((part) =>
      typeof part === 'number' || part === autoCalls ? 'calls' : part.replace(/.*%/, '%'),
    );
    if (new Set(kinds).size === kinds.length && (kinds.length === 1 || !kinds.includes(noOverrun))) return;
    context.addIssue({ code: 'custom', message: overrunForms, input: parts });
  })
  .default([...defaultOverrun]);

export const budgetSchema = z
  .strictObject({
    account: field(z.string().regex(accountPattern, accountRule).optional(), {
      flag: 'account',
      value: 'NAME',
      description: 'name of the ledger in place of the key: its keys share a budget',
    }),
    creditsPerCall: field(wholeNumber(0).default(160), {
      flag: 'credits-per-call',
      value: 'N',
      description: 'price of a call',
    }),
    creditsPerRun: field(wholeNumber(0).optional(), {
      flag: 'credits-per-run',
      value: 'N',
      description: 'most credits that this run may spend',
    }),
    creditsPerDay: field(wholeNumber(0).optional(), {
      flag: 'credits-per-day',
      value: 'N',
      description: 'most credits of a UTC day, for all runs with this key or account',
    }),
    creditsPerSecond: field(z.number().positive().optional(), {
      flag: 'credits-per-second',
      value: 'N',
      description: 'rate limit: calls are spaced evenly',
    }),
    overrun: field(overrun, {
      flag: 'overrun',
      value: 'P%,N',
      description: 'calls beyond the planned ones, else exit 10: P%, a number, auto, none',
    }),
    whenSpent: field(z.enum(['stop', 'wait']).default('stop'), {
      flag: 'when-spent',
      description: 'when credits are spent: stop with exit 8, or wait until 00:00 UTC and resume',
    }),
    freeStatuses: field(oneOrMore(z.int().min(300).max(599)).default([]), {
      flag: 'free-statuses',
      value: 'STATUS',
      description: 'HTTP statuses that are free: the credits of such calls are returned',
    }),
  })
  .prefault({});

const notifyForms = ['json', 'slack', 'healthchecks'] as const;
const notifyEvents = ['success', 'failure', 'waiting'] as const;

/** Addresses are secrets: the message says what is wrong with one, and never shows it. */
const httpAddress = z.string().refine(isHttp, 'must be an address that begins with https:// or http://');

function isHttp(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

const notifyTarget = z.strictObject({
  url: httpAddress,
  on: z
    .array(z.enum(notifyEvents))
    .min(1)
    .default([...notifyEvents]),
  as: z.enum(notifyForms).default('json'),
});

/** `HOST:PORT`, `[IPV6]:PORT` or a port. */
const listenAddress = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z.string().refine((text) => listenParts(text) !== undefined, 'must be HOST:PORT, or a port from 0 to 65535'),
);

/** The host and the port to listen on; a port alone means this machine alone. Undefined when it is neither. */
export function listenParts(text: string): { host: string; port: number } | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]:|([^:\s]+):)?(\d{1,5})$/.exec(text.trim()) ?? [];
  const port = Number(digits);
  return digits === undefined || port > 65_535 ? undefined : { host: bracketed ?? plain ?? '127.0.0.1', port };
}

export const metricsSchema = z
  .strictObject({
    listen: field(listenAddress.optional(), {
      flag: 'metrics-listen',
      value: 'HOST:PORT',
      description: 'serve Prometheus /metrics and /healthz while a run works; a port means 127.0.0.1',
    }),
    file: field(z.string().min(1).optional(), {
      flag: 'metrics-file',
      value: 'FILE',
      description: 'write the metrics to this text file every 15 seconds and at the end',
    }),
    name: field(z.string().min(1).optional(), {
      flag: 'metrics-name',
      value: 'NAME',
      description: 'name of the export in metrics, notifications and lineage (default: name of the output folder)',
    }),
  })
  .prefault({});

export const notifySchema = field(
  z
    .preprocess((value) => {
      const all: unknown[] = Array.isArray(value) ? value : [value];
      return all.map((each) => (typeof each === 'string' ? { url: each } : each));
    }, z.array(notifyTarget))
    .default([]),
  {
    flag: 'notify',
    value: 'URL',
    description: 'POST the account of a run here at its end; or {url, on, as}',
  },
);

export const lineageSchema = z
  .strictObject({
    url: field(
      z
        .string()
        .refine(
          (text) => /^file:./i.test(text) || isHttp(text),
          'must be an address that begins with https://, http:// or file:',
        )
        .optional(),
      {
        flag: 'lineage-url',
        value: 'URL',
        description: 'send OpenLineage events to this address (else OPENLINEAGE_URL); file:PATH appends them to a file',
      },
    ),
  })
  .prefault({});

export type NotifyTarget = z.infer<typeof notifyTarget>;
export type NotifyEvent = (typeof notifyEvents)[number];
