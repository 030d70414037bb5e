import { z } from 'zod';
import { address, wholeNumber, field, oneOrMore } from './field.ts';
import { nearestName } from '../../lib/nearest-name.ts';
import { assetsTable } from '../records/columns.ts';
import { whenProblem } from '../records/when-words.ts';

/** The keys of a base have six bits for the class, and one class is that of the assets that fit no other. */
const mostClasses = 63;

const age = z
  .string()
  .regex(/^(\d{1,5}[hd]|never)$/, 'must be hours or days like 12h or 7d, or never')
  .describe('12h, 7d or never');

const share = z.preprocess(
  (value) => (value === 0 ? '0%' : value),
  z.string().regex(/^(100|\d{1,2}(\.\d+)?)%$/, 'must be a percentage like 0.1%, at most 100%'),
);

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
      description:
        'earlier export whose fresh rows are reused for no credits; a glob selects the last complete export by name; none: first export, request everything',
    }),
    first: field(z.enum(['error', 'request']).default('error'), {
      flag: 'base-first',
      description:
        'where the pattern of base.from matches no complete export yet: end with exit 4 (error), or request everything (request)',
    }),
    maxAge: field(age.default('7d'), {
      flag: 'max-age',
      value: 'AGE',
      description: 'rows of the base that are this old or older are requested again: 12h, 7d or never',
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
    sample: field(share.default('0%'), {
      flag: 'sample',
      value: 'P%',
      description: 'share of the fresh rows to request anyway, to measure how many are out of date',
    }),
    maxCredits: field(wholeNumber(0).optional(), {
      flag: 'base-credits',
      value: 'N',
      description: 'most credits for rows of the base that are requested again; the rest is carried over as overdue',
    }),
    ignore: field(oneOrMore(ignoredName).default(['extra.token_info.price_info', 'extra.last_indexed_slot']), {
      flag: 'ignore',
      value: 'NAME',
      description:
        'columns, and paths in extra, to ignore: a row that differs only in these is not an update in the table changes',
    }),
    fetchedAt: field(moment.optional(), {
      flag: 'base-fetched-at',
      value: 'TIME',
      description: 'when the rows of the base were requested, if the base does not record it',
    }),
  })
  .prefault({});

export type Base = z.infer<typeof baseSchema>;
