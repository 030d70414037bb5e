import { homedir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { type AddressUse, classifyAddress, fileNameWarning } from '../../../src/lib/addresses/address.ts';
import { wrongAddresses } from '../../support/wrong-addresses.ts';

const textOf = (text: string, use: AddressUse): string => {
  const address = classifyAddress(text, use);
  return address.kind === 'wrong' ? `${address.problem}. ${address.todo}` : `${address.kind} ${address.text}`;
};

describe('an address', () => {
  it.each(Object.entries(wrongAddresses))('%s is refused with the nearest right form', (text, near) => {
    expect(classifyAddress(text, 'out')).toMatchObject({
      kind: 'wrong',
      todo: expect.stringContaining(near) as string,
    });
  });

  it.each([
    ['out', 'path out'],
    ['./s3:x', 'path ./s3:x'],
    ['2026-01-31T02:00', 'path 2026-01-31T02:00'],
    ['C:\\exports', 'path C:\\exports'],
    ['a:b', 'path a:b'],
    ['caf%C3%A9', 'path caf%C3%A9'],
    ['out.csv', 'path out.csv'],
    ['~/x', `path ${homedir()}/x`],
    ['~', `path ${homedir()}`],
    ['file:///d/x%20y', 'path /d/x y'],
    ['s3://bucket', 'bucket s3://bucket'],
    ['gs://bucket/x/', 'bucket gs://bucket/x/'],
    ['az://account/container/x', 'bucket az://account/container/x'],
  ])('%s is taken', (text, expected) => {
    expect(textOf(text, 'out')).toBe(expected);
  });

  it.each([
    ['abfss://container@account.dfs.core.windows.net/x', 'az://account/container/x'],
    ['azure://account.blob.core.windows.net/container/x', 'az://account/container/x'],
    ['https://account.blob.core.windows.net/container/x?sig=S', 'az://account/container/x'],
    ['https://storage.googleapis.com/bucket/x', 'gs://bucket/x'],
    ['https://bucket.s3.eu-central-1.amazonaws.com/x', 's3://bucket/x'],
    ['https://s3.eu-central-1.amazonaws.com/bucket/x', 's3://bucket/x'],
    [
      'https://me.r2.cloudflarestorage.com/bucket/x',
      's3://bucket/x with --out-endpoint https://me.r2.cloudflarestorage.com',
    ],
  ])('%s is written %s', (text, near) => {
    expect(textOf(text, 'out')).toContain(`Write ${near}.`);
  });

  it('may be - only where that is stdin or stdout', () => {
    expect(textOf('-', 'ids')).toBe('stream -');
    expect(textOf('-', 'page')).toBe('stream -');
    expect(textOf('-', 'out')).toContain('asset-export get');
    for (const use of ['rebuilt', 'changes', 'base', 'records', 'export', 'warehouse', 'local'] as const)
      expect(classifyAddress('-', use).kind).toBe('wrong');
  });

  it('holds {date} only where it is replaced, and braces where they are a pattern', () => {
    expect(textOf('out/{date}', 'out')).toBe('path out/{date}');
    expect(textOf('out/{date}', 'base')).toContain('out/*');
    for (const use of ['rebuilt', 'changes', 'export', 'page'] as const)
      expect(textOf('out/{date}', use)).toContain('only output.dir replaces');
    expect(textOf('ids/{a,b}.txt', 'ids')).toBe('path ids/{a,b}.txt');
  });

  it('names an export that is really called so when it is read', () => {
    expect(textOf('./{day}', 'export')).toBe('path ./{day}');
    expect(textOf('/data/%Y', 'export')).toBe('path /data/%Y');
    expect(classifyAddress('./{day}', 'out').kind).toBe('wrong');
  });

  it('of a bucket is refused where only this machine will do', () => {
    for (const use of ['changes', 'page', 'local'] as const)
      expect(textOf('s3://bucket/x', use)).toContain('must be a file or folder of this machine');
  });

  it('warns of an output folder that has the name of a file', () => {
    expect(fileNameWarning('/work/out.csv')).toContain('out.csv');
    expect(fileNameWarning('s3://bucket/out.parquet/')).toContain('out.parquet');
    expect(fileNameWarning('/work/out.d')).toBeUndefined();
  });
});
