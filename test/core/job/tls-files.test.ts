import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/core/job/job-schema.ts';
import { tlsFor } from '../../../src/core/job/tls-files.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { certificates } from '../../support/certificates.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const { key, valid, expired } = certificates;
const strange = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const otherKey = strange.export({ type: 'pkcs8', format: 'pem' }).toString();
const encryptedKey = strange
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  .toString();

type TlsFiles = NonNullable<Job['service']['tls']>;

/** Puts these contents into files; their paths. */
async function filesOf(contents: TlsFiles): Promise<TlsFiles> {
  const folder = await tempFolder();
  const paths = Object.entries(contents).map(([name, text]) => {
    const path = join(folder, `${name}.pem`);
    if (text !== undefined) writeFileSync(path, text);
    return [name, path];
  });
  return Object.fromEntries(paths) as TlsFiles;
}

describe('service.tls', () => {
  it('gives what its files hold, with the whole chain and all authorities', async () => {
    const chain = `subject=/CN=localhost\n${valid}\n${expired}\n`;
    const files = await filesOf({ cert: chain, key: `${key}\n`, ca: chain });
    expect(tlsFor('https://service.example', files)).toEqual({ cert: chain, key: `${key}\n`, ca: [valid, expired] });
    expect(tlsFor('HTTPS://service.example', { ca: files.ca })).toEqual({ ca: [valid, expired] });
    const both = await filesOf({ cert: `${valid}\n${key}\n`, key: `${valid}\n${key}\n` });
    expect(tlsFor('https://service.example', both)).toMatchObject({ key: expect.stringContaining(key) as string });
  });

  it('reads nothing where there is no TLS', () => {
    expect(tlsFor('http://127.0.0.1', { ca: '/nowhere/ca.pem' })).toBeUndefined();
    expect(tlsFor('https://service.example', undefined)).toBeUndefined();
  });

  const damaged = valid.replace('MIIBmjCC', 'AAAAAAAA');
  it.each<[string, TlsFiles, RegExp]>([
    ['no certificate', { ca: 'not one' }, /service\.tls\.ca: the file .*ca\.pem holds no certificate in PEM/],
    ['a key for a certificate', { ca: key }, /service\.tls\.ca: the file .*ca\.pem holds no certificate in PEM/],
    [
      'a damaged one',
      { ca: `${valid}\n${damaged}` },
      /service\.tls\.ca: the file .*ca\.pem holds a damaged certificate/,
    ],
    ['no key', { cert: valid, key: valid }, /service\.tls\.key: the file .*key\.pem holds no private key in PEM/],
    ['an encrypted key', { cert: valid, key: encryptedKey }, /service\.tls\.key: the file .*key\.pem is encrypted/],
    [
      'the key of another',
      { cert: valid, key: otherKey },
      /the key .*key\.pem does not fit the certificate .*cert\.pem/,
    ],
    [
      'a file that is not there',
      { ca: undefined },
      /service\.tls\.ca: the file .*ca\.pem cannot be read: it does not exist/,
    ],
  ])('is refused with exit 2: %s', async (_, contents, words) => {
    const files = await filesOf(contents);
    let error: unknown;
    try {
      tlsFor('https://service.example', files);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ExportError);
    expect(error).toMatchObject({ exit: 'usage', message: expect.stringMatching(words) as string });
    expect(JSON.stringify(error)).not.toContain(key.slice(40, 80));
  });
});
