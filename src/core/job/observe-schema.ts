import { z } from 'zod';
import { field } from './field.ts';

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
      description:
        'serve Prometheus metrics at /metrics, and /healthz, while a run works; a port alone means 127.0.0.1',
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
    description: 'POST the account of a run to this address when it ends; a job file takes a list of {url, on, as}',
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
