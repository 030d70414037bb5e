import { describe, expect, it } from 'vitest';
import { neverAnswered } from '../../src/lib/network.ts';
import { withStoreRetries } from '../../src/places/objects/store-retries.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { connectPatiently } from '../../src/wings/load/postgres/postgres-database.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
const busy = new Error('HTTP 503');

describe('the text of a first contact', () => {
  it.each([
    ['write EPROTO: SSL routines:ssl3_get_record:wrong version number', /plain http: write http:/],
    ['getaddrinfo ENOTFOUND no.such.host', /no such host/],
    ['connect ECONNREFUSED 127.0.0.1:1', /Nothing listens/],
    ['socket hang up', /^Check it\.$/],
  ])('hints at what is wrong: %s', (words, todo) => {
    const error = neverAnswered('the service', new Error(words), 'Check it.');
    expect(error.message).toBe(`cannot reach the service, it never answered: ${words}`);
    expect(error.todo).toMatch(todo);
    expect(error.why).toEqual({ kind: 'neverAnswered' });
  });
});

/** What never answers ends after 30 s; what has answered is waited for. */
describe('a place that does not answer', () => {
  const store = { address: 's3://never/x', endpoint: 'http://127.0.0.1:1', random: () => 1 };
  const failing = async (error: Error): Promise<never> => Promise.reject(error);

  it('is given up after 30 s: a bucket', async () => {
    const clock = createFakeClock();
    const began = clock.now();
    const end = clock.runUntil(
      withStoreRetries(
        { ...store, clock },
        () => 'passing',
        () => failing(refused),
      ),
    );
    await expect(end).rejects.toMatchObject({
      message: 'cannot reach s3://never/x at http://127.0.0.1:1, it never answered: connect ECONNREFUSED 127.0.0.1:1',
      todo: expect.stringContaining('--out-endpoint') as string,
    });
    expect(clock.now() - began).toBeLessThanOrEqual(30_000);
  });

  it.each([
    ['had answered', [undefined, refused]],
    ['answers that it is busy', [busy]],
  ])('is waited for when it %s: a bucket', async (name, answers) => {
    const clock = createFakeClock();
    const context = { ...store, address: `s3://${name.replaceAll(' ', '')}/x`, clock };
    for (const answer of answers) {
      const asked = withStoreRetries(
        context,
        () => 'passing',
        async () => (answer ? failing(answer) : undefined),
      );
      const end = clock.runUntil(asked.catch((error: unknown) => error));
      const error = await end;
      if (answer) expect(error).toMatchObject({ message: expect.stringContaining('did not recover') as string });
    }
    expect(clock.now()).toBeGreaterThan(14 * 60_000);
  });

  it('is given up after 30 s: the database of a load', async () => {
    const clock = createFakeClock();
    const began = clock.now();
    const { Client } = (await import('pg')).default;
    const address = 'postgres://user@127.0.0.1:1/db';
    const end = connectPatiently(Client, address, { clock, note: () => undefined });
    await expect(clock.runUntil(end, 'wait')).rejects.toThrow('ECONNREFUSED');
    expect(clock.now() - began).toBeLessThanOrEqual(30_000);
  });
});
