import { expect, it } from 'vitest';
import { canariesIn, canaryKey } from './canary.ts';

it('the search finds the key in an address, in hexadecimal, and in base64 of any text around it', () => {
  const texts = [
    `the key ${canaryKey}.`,
    `POST /v3/${encodeURIComponent(canaryKey)}`,
    Buffer.from(canaryKey).toString('hex'),
    ...['', 'a', 'ab', 'abc', 'http://host/v3/'].map((before) =>
      Buffer.from(`${before}${canaryKey} after`).toString('base64'),
    ),
  ];
  for (const text of texts) expect(canariesIn(`x${text}y`), text).not.toEqual([]);
  expect(canariesIn('canary-9f8e/*** and nothing else')).toEqual([]);
});
