import { describe, expect, it } from 'vitest';
import { messageOf } from '../../src/lib/export-error.ts';

describe('messageOf', () => {
  it.each<[string, unknown]>([
    ['no route', new Error('no route')],
    ['no route', 'no route'],
    ['no route', new AggregateError([], 'no route')],
  ])('is %s for %s', (message, error) => {
    expect(messageOf(error)).toBe(message);
  });

  it('is that of the first address where a connection tried several in vain', () => {
    const tried = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:5432`));
    expect(messageOf(new AggregateError(tried))).toBe('connect ECONNREFUSED ::1:5432');
  });
});
