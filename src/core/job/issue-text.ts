import type { z } from 'zod';
import { numberIn, nearestName } from '../../lib/format-text.ts';
import { shownWord } from '../../lib/addresses/shown-text.ts';

/** Describes the error of a value, as text that follows the field name. */
export function issueText(issue: z.core.$ZodIssue): string {
  // A wrong address or key file may be the key itself or hold a password, so it is not shown.
  const [section, name] = issue.path;
  const secret =
    section === 'notify' ||
    section === 'lineage' ||
    (section === 'fleet' && name === 'database') ||
    (issue.code === 'custom' && issue.params?.['hidden'] === true) ||
    (section === 'service' && ['url', 'apiKeyFile'].includes(String(name)));
  const given = issue.input === undefined || secret ? '' : `, not ${shownValue(issue.input)}`;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}${given}${numberHint(issue)}`;
    case 'too_small':
      return issue.origin === 'array'
        ? 'must not be an empty list'
        : `must be ${boundText('least', issue.minimum, issue)}${given}`;
    case 'too_big':
      return `must be ${boundText('most', issue.maximum, issue)}${given}`;
    case 'invalid_value': {
      const names = issue.values.map(String);
      const near = typeof issue.input === 'string' ? nearestName(issue.input, names) : undefined;
      return `must be one of ${names.join(', ')}${given}${near === undefined ? '' : `; did you mean ${near}?`}`;
    }
    case 'invalid_union':
      return `${issue.message === anyUnion ? "must be a count like 20 or a percentage like '0.5%'" : issue.message}${given}`;
    default:
      return `${issue.message}${given}`;
  }
}

/** What zod says of a union that says nothing itself. */
const anyUnion = 'Invalid input';

/** How to write a number that was meant: `3.000` is 3 or 3,000, and a job file takes no `3M`. */
function numberHint({ expected, input }: z.core.$ZodIssueInvalidType): string {
  if (!['int', 'number'].includes(expected) || typeof input !== 'string') return '';
  const number = numberIn(input) ?? numberIn(input.replaceAll('.', '_'));
  return number === undefined ? '' : `; write ${number}`;
}

function shownValue(input: unknown): string {
  return JSON.stringify(typeof input === 'string' ? shownWord(input) : input);
}

const kinds: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of fields',
};

function boundText(
  side: 'least' | 'most',
  bound: number | bigint,
  { origin, inclusive }: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
): string {
  if (origin === 'string')
    return side === 'least' && bound <= 1 ? 'a non-empty string' : `at ${side} ${bound} characters long`;
  if (inclusive === false) return `${side === 'least' ? 'more' : 'less'} than ${bound}`;
  return `at ${side} ${bound}`;
}
