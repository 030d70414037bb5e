import { expect, it } from 'vitest';
import { AttemptError } from '../../../../src/core/client/asset-client.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { packError, unpackError } from '../../../../src/core/work/threads/packed-error.ts';

it.each(['unsent', 'lost', 'ofPeriod', 'foreign'] as const)(
  'an error of a call keeps between threads that it is %s',
  (detail) => {
    const given = { [detail]: true, status: 503, waitMs: 7 };
    const error = unpackError(structuredClone(packError(new AttemptError('pace', 'too fast', given))));
    expect(error).toBeInstanceOf(AttemptError);
    expect(error).toMatchObject({ failure: 'pace', message: 'too fast', ...given });
  },
);

it('an error for people keeps between threads what code decides by', () => {
  const detail = { todo: 'Wait.', why: { kind: 'lostSlice' }, again: 'later', unsent: true, facts: { a: 1 } } as const;
  const error = unpackError(structuredClone(packError(new ExportError('locked', 'taken', detail))));
  expect(error).toMatchObject({ exit: 'locked', message: 'taken', ...detail, facts: { a: 1, sent: false } });
});

it('an error of a call keeps between threads what it means as long as nothing was answered', () => {
  const atFirst = new ExportError('notTrusted', 'The service refused the API key.', { facts: { status: 403 } });
  const error = new AttemptError('refusal', 'HTTP 403', { status: 403, atFirst });
  expect(unpackError(structuredClone(packError(error)))).toMatchObject({ failure: 'refusal', atFirst });
});
