import { describe, expect, it } from 'vitest';
import { ExportError } from '../../../src/lib/export-error.ts';
import { safeText, shownWord, withoutSecrets } from '../../../src/lib/addresses/shown-text.ts';

const key = '0a1b2c3d-4e5f-6789-abcd-ef0123456789';

describe('an address is shown', () => {
  it.each([
    ['postgres://me:PW@host/db', 'postgres://***@host/db'],
    ['postgres://me:P/W?x#y@z@host/db', 'postgres://***@host/db'],
    ['postgres://me@host/db?sslmode=require&password=PW', 'postgres://me@host/db?sslmode=***&password=***'],
    ['https://TOKEN@host/x', 'https://***@host/x'],
    [`https://host/v3/${key}`, 'https://host/v3/***'],
    ['https://host/v3/short', 'https://host/v3/***'],
    ['https://hooks.example/services/T1/B2/abcdefghijklmnop1234', 'https://hooks.example/services/T1/B2/***'],
    ['https://host/x?api-key=KEY&v=1', 'https://host/x?api-key=***&v=***'],
    ['s3://KEY:SECRET@bucket/x', 's3://***@bucket/x'],
    ['s3://bucket/nights/2026-11-2?', 's3://bucket/nights/2026-11-2?'],
    ['s3://bucket/a:b@c', 's3://bucket/a:b@c'],
    ['http://user:password@host:port', 'http://user:password@host:port'],
    ['https://service.example/docs', 'https://service.example/docs'],
  ])('%s as %s', (address, shown) => {
    expect(shownWord(address)).toBe(shown);
    expect(withoutSecrets(`cannot read ${address}: why`)).toBe(`cannot read ${shown}: why`);
  });

  it.each([
    ['me:PW@host/db', '***@host/db'],
    ['postgres:/me:PW@host/db', 'postgres:/***@host/db'],
    ['postgres://me:P W@host/db', 'postgres://***@host/db'],
    [`service.example/v3/${key}`, 'service.example/v3/***'],
    ['out/v3/2026', 'out/v3/2026'],
    ['a@b', 'a@b'],
    ['a\u001b[31m\nb', 'a\\x1b[31m\\x0ab'],
    ['a\u202eb', 'a\\u202eb'],
  ])('as a word: %j as %j', (word, shown) => {
    expect(shownWord(word)).toBe(shown);
  });
});

it('an error shows neither secrets nor control characters, and keeps its lines', () => {
  const { message, todo } = new ExportError('usage', 'no https://h/v3/KEY\n  \u001b[2J', { todo: 'x\u0007' });
  expect(message).toBe('no https://h/v3/***\n  \\x1b[2J');
  expect(todo).toBe('x\\x07');
  expect(safeText(message)).toBe(message);
});
