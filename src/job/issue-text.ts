import type { z } from 'zod';
import { nearestName } from '../lib/nearest-name.ts';

/** What is wrong with a field's value, in words that follow the field's name. */
export function issueText(issue: z.core.$ZodIssue): string {
  // What stands where the address or the key's file belongs may hold the key itself.
  const secret = issue.path[0] === 'service' && ['url', 'apiKeyFile'].includes(String(issue.path[1]));
  const given = issue.input === undefined || secret ? '' : `, and is ${JSON.stringify(issue.input)}`;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}${given}`;
    case 'too_small':
      return issue.origin === 'array' ? 'is an empty list' : `must be ${boundText('least', issue)}${given}`;
    case 'too_big':
      return `must be ${boundText('most', issue)}${given}`;
    case 'invalid_value': {
      const names = issue.values.map(String);
      const near = typeof issue.input === 'string' ? nearestName(issue.input, names) : undefined;
      return `must be one of ${names.join(', ')}${given}${near === undefined ? '' : `; did you mean ${near}?`}`;
    }
    case 'invalid_union':
      return `must be a count like 20 or a share like '0.5%'${given}`;
    default:
      return `${issue.message}${given}`;
  }
}

const kinds: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of fields',
};

interface Bound {
  readonly origin: string;
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly inclusive?: boolean | undefined;
}

function boundText(side: 'least' | 'most', { origin, minimum, maximum, inclusive }: Bound): string {
  if (origin === 'string') return 'a text that is not empty';
  if (inclusive === false) return side === 'least' ? `more than ${minimum ?? 0}` : `less than ${maximum ?? 0}`;
  return side === 'least' ? `at least ${minimum ?? 0}` : `at most ${maximum ?? 0}`;
}
