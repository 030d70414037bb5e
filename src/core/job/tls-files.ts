import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readSmallText } from '../../lib/disk/on-disk.ts';
import type { TlsMaterial } from '../client/wire/service-address.ts';
import { codeOf, ExportError } from '../../lib/export-error.ts';
import type { Job } from './job-schema.ts';

/** What the files hold, for an address with TLS. @throws {ExportError} `usage` */
export function tlsFor(url: string, files: Job['service']['tls']): TlsMaterial | undefined {
  return files === undefined || !/^https:/i.test(url.trim()) ? undefined : readTlsFiles(files);
}

/** @throws {ExportError} `usage` when one cannot be read or is no PEM, or when key and certificate do not fit */
function readTlsFiles({ cert, key, ca }: NonNullable<Job['service']['tls']>): TlsMaterial {
  const authorities = ca === undefined ? undefined : certificatesIn(ca, 'ca');
  const trust = authorities === undefined ? {} : { ca: authorities };
  if (cert === undefined || key === undefined) return trust;
  const [own = ''] = certificatesIn(cert, 'cert');
  const keyPem = read(key, 'key');
  const privateKey = attempted(() => createPrivateKey(keyPem), {
    file: key,
    name: 'key',
    problem: /ENCRYPTED/.test(keyPem) ? 'is encrypted' : 'holds no private key in PEM',
  });
  if (!new X509Certificate(own).checkPrivateKey(privateKey))
    throw new ExportError('usage', `service.tls: the key ${key} does not fit the certificate ${cert}.`, {
      todo: 'The first certificate in service.tls.cert must be that of service.tls.key.',
    });
  return { ...trust, cert: read(cert, 'cert'), key: keyPem };
}

/** All of a file, at least one, each whole. */
function certificatesIn(file: string, name: 'cert' | 'ca'): string[] {
  const problem = 'holds no certificate in PEM';
  const blocks = read(file, name).match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (blocks.length === 0) throw wrongFile({ file, name, problem });
  for (const pem of blocks)
    attempted(() => new X509Certificate(pem), { file, name, problem: 'holds a damaged certificate' });
  return blocks;
}

interface WrongFile {
  readonly file: string;
  readonly name: string;
  /** A clause. */
  readonly problem: string;
}

/** The cause is left out: it may quote the key. */
function attempted<T>(make: () => T, wrong: WrongFile): T {
  try {
    return make();
  } catch {
    throw wrongFile(wrong);
  }
}

function read(file: string, name: string): string {
  try {
    return readSmallText(file);
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'it does not exist' : (codeOf(error) ?? 'unknown error');
    throw wrongFile({ file, name, problem: `cannot be read: ${why}` });
  }
}

function wrongFile({ file, name, problem }: WrongFile): ExportError {
  return new ExportError('usage', `service.tls.${name}: the file ${file} ${problem}.`, {
    todo: 'service.tls takes PEM files: cert and its unencrypted key, and ca.',
  });
}
