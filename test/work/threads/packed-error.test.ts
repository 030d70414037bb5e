import { expect, it } from 'vitest';
import { AttemptError } from '../../../src/client/attempt-error.ts';
import { packError, unpackError } from '../../../src/work/threads/packed-error.ts';

it.each(['patient', 'unsent', 'ofPeriod', 'foreign', 'overload'] as const)(
  'an error of a call keeps between threads that it is %s',
  (detail) => {
    const given = { [detail]: true, status: 503, waitMs: 7 };
    const error = unpackError(structuredClone(packError(new AttemptError('throttled', 'too fast', given))));
    expect(error).toBeInstanceOf(AttemptError);
    expect(error).toMatchObject({ failure: 'throttled', message: 'too fast', ...given });
  },
);
