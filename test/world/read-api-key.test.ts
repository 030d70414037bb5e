import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readApiKey } from '../../src/world/read-api-key.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** Where no path of these tests lies, so that messages show it whole. */
const cwd = '/elsewhere';

async function keyFile(content: string): Promise<string> {
  const file = join(await tempFolder(), 'key');
  writeFileSync(file, content);
  return file;
}

describe('the key', () => {
  it('is that of a file named by a flag, before the environment, before the file of the job', async () => {
    const file = await keyFile('from-file\n');
    const environment = (): Record<string, string> => ({ ASSET_EXPORT_API_KEY: ' from-environment ' });
    expect(readApiKey({ file, fileFromFlag: true, cwd, environment: environment() })).toBe('from-file');
    expect(readApiKey({ file, fileFromFlag: false, cwd, environment: environment() })).toBe('from-environment');
    expect(readApiKey({ file, fileFromFlag: false, cwd, environment: {} })).toBe('from-file');
  });

  // Promise, Nothing leaked: The key leaves the program's environment as soon as it is read
  it('is taken out of the environment, whatever it is read from', async () => {
    const environment = { ASSET_EXPORT_API_KEY: 'secret', OTHER: 'stays' };
    readApiKey({ file: await keyFile('k'), fileFromFlag: true, cwd, environment });
    expect(environment).toEqual({ OTHER: 'stays' });
  });

  it('is asked for when there is none, or the file is empty or not there', async () => {
    const read = (file: string | undefined) => () => readApiKey({ file, fileFromFlag: true, cwd, environment: {} });
    expect(read(undefined)).toThrow('no API key given');
    expect(read(await keyFile(' \n'))).toThrow('is empty');
    expect(read('/nowhere/key.txt')).toThrow('cannot read the key file /nowhere/key.txt: it does not exist');
  });

  it.each([
    ['"canary"', 'is in quotes'],
    ["'canary'", 'is in quotes'],
    ['“canary”', 'is in quotes'],
    ['"canary', 'is in quotes'],
    ['API_KEY=canary', 'is written as NAME=key'],
    ['export API_KEY="canary"', 'is written as NAME=key'],
    ['canary canary', 'contains spaces or line breaks'],
    ['canary\ncanary', 'contains spaces or line breaks'],
  ])('is refused as %j, without showing it', async (text, problem) => {
    const file = await keyFile(`${text}\n`);
    const places = [
      { place: file, read: () => readApiKey({ file, fileFromFlag: true, cwd, environment: {} }) },
      {
        place: 'ASSET_EXPORT_API_KEY',
        read: () =>
          readApiKey({ file: undefined, fileFromFlag: false, cwd, environment: { ASSET_EXPORT_API_KEY: text } }),
      },
    ];
    for (const { place, read } of places) {
      expect(read).toThrow(`the API key in ${place} ${problem}`);
      expect(read).not.toThrow(/canary/);
    }
  });

  it.each(['YWJjZA==', 'abc=', 'a.b-c_d', '=abc', '9=abc'])('may be %s', async (key) => {
    expect(readApiKey({ file: await keyFile(key), fileFromFlag: true, cwd, environment: {} })).toBe(key);
  });

  it('is not shown when it was given in place of its file', () => {
    const key = '0123456789abcdef0123456789abcdef';
    const read = () => readApiKey({ file: `/srv/${key}`, fileFromFlag: true, cwd, environment: {} });
    expect(read).toThrow('cannot read the key file that is named: it does not exist');
  });
});
