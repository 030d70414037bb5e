import { describe, expect, it } from 'vitest';
import { errorJson } from '../../src/cli/output/show-error.ts';
import { ExportError, messageOf } from '../../src/lib/export-error.ts';

describe('messageOf', () => {
  it.each<[string, unknown]>([
    ['no route', new Error('no route')],
    ['no route', 'no route'],
    ['no route', new AggregateError([], 'no route')],
  ])('is %s for %s', (message, error) => {
    expect(messageOf(error)).toBe(message);
  });

  it('names each address where a connection tried several in vain, once', () => {
    const tried = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:5432`));
    expect(messageOf(new AggregateError(tried))).toBe(
      'connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432',
    );
    expect(messageOf(new AggregateError(['no', 'no']))).toBe('no');
  });
});

describe('what code decides by', () => {
  it('is shown to people as facts too', () => {
    const why = { kind: 'held', host: 'here', pid: 7 } as const;
    const error = new ExportError('locked', 'another run holds out', { why, unsent: true, facts: { code: 'x' } });
    expect(error).toMatchObject({ why, unsent: true, facts: { host: 'here', pid: 7, sent: false, code: 'x' } });
    expect(errorJson(error)).toMatchObject({ code: 'locked', why: 'held', again: 'now', pid: 7 });
  });

  it('is, of running the same command again, what the exit code says, unless the error knows better', () => {
    const agains = (['spent', 'usage', 'cannotWrite', 'locked'] as const).map(
      (exit) => new ExportError(exit, '').again,
    );
    expect(agains).toEqual(['later', 'never', 'after fixing', 'now']);
    expect(new ExportError('spent', '', { again: 'now' }).again).toBe('now');
  });
});

describe('a file that is not read for want of a handle', () => {
  const noHandle = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });

  it.each(['input', 'usage', 'damaged'] as const)('is not at fault (%s)', (exit) => {
    const error = new ExportError(exit, 'cannot read ids.txt', { todo: 'Check the file.', cause: noHandle });
    expect(error.exit).toBe('cannotWrite');
    expect(error.todo).toMatch(/^Raise the limit/);
    expect(new ExportError(exit, 'cannot read ids.txt', { cause: new Error('x', { cause: noHandle }) }).exitCode).toBe(
      7,
    );
    // A file may claim any size.
    const tooLarge = new RangeError('Array buffer allocation failed');
    expect(new ExportError(exit, 'cannot read ids.parquet', { cause: tooLarge }).exit).toBe(exit);
  });

  it('leaves the service its own error', () => {
    expect(new ExportError('unavailable', 'the service is down', { cause: noHandle }).exit).toBe('unavailable');
  });
});
