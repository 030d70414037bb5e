import { z } from 'zod';
import { accountPattern, accountRule } from '../client/ledger/ledger-name.ts';
import { defaultOverrun, noOverrun } from '../client/policies/overrun.ts';
import { wholeNumber, field, oneOrMore } from './field.ts';

const overrunForms = 'must be a percentage like 50%, a number of calls like 250, both, or none';

/** Flags and variables give numbers as text. */
const overrunPart = z.preprocess(
  (part) => (typeof part === 'string' && /^\d+$/.test(part) ? Number(part) : part),
  z.union([z.int().min(0), z.string().regex(/^(\d+(\.\d+)?%|none)$/, overrunForms)]),
);

const overrun = oneOrMore(overrunPart)
  .superRefine((parts, context) => {
    const kinds = parts.map((part) => (typeof part === 'number' ? 'calls' : part.replace(/.*%/, '%')));
    if (new Set(kinds).size === kinds.length && (kinds.length === 1 || !kinds.includes(noOverrun))) return;
    context.addIssue({ code: 'custom', message: overrunForms, input: parts });
  })
  .default([...defaultOverrun]);

export const budgetSchema = z
  .strictObject({
    account: field(z.string().regex(accountPattern, accountRule).optional(), {
      flag: 'account',
      value: 'NAME',
      description: 'name of the ledger of credits, in place of the key: all keys of an account share its budget',
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
      description: 'most credits that all runs with this key or account may spend in a UTC day',
    }),
    creditsPerSecond: field(z.number().positive().optional(), {
      flag: 'credits-per-second',
      value: 'N',
      description: 'rate limit: calls are spaced evenly',
    }),
    overrun: field(overrun, {
      flag: 'overrun',
      value: 'P%,N',
      description:
        'calls that a run may send beyond the planned ones, as a percentage of those and a number; with more it ends with exit 10; none: no limit',
    }),
    whenSpent: field(z.enum(['stop', 'wait']).default('stop'), {
      flag: 'when-spent',
      description: 'when credits are spent: stop with exit 8, or wait until 00:00 UTC and resume',
    }),
    freeStatuses: field(oneOrMore(z.int().min(300).max(599)).default([]), {
      flag: 'free-statuses',
      value: 'STATUS',
      description:
        'HTTP statuses that the provider does not charge for; credits of such calls are returned to the budget',
    }),
  })
  .prefault({});
