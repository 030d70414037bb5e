import { describe, expect, it } from 'vitest';
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
