import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, serveGenerated } from '../../src/practice-service.ts';
import { type BucketWays, BucketOfTests } from '../contract/objects/bucket-of-tests.ts';
import { type FaultyServer, startFaultyServer } from '../contract/objects/faulty-server.ts';
import { serveS3 } from '../contract/objects/s3-bucket.ts';
import { certificates } from './certificates.ts';
import { idEntries } from './id-file.ts';
import { runHere } from './run-here.ts';
import { type ProgramRun, runProgram } from './run-program.ts';
import { tempFolder } from './temp-folder.ts';

/** A job without a mistake: a folder with the working directory in it, its service, flags and environment. */
export class Prepared {
  readonly flags = new Map<string, string>();
  readonly environment: Record<string, string> = { ASSET_EXPORT_API_KEY: 'canary-key' };
  readonly more: string[] = [];
  program: readonly string[] | undefined;
  readonly folder: string;
  readonly service: RunningService;

  private constructor(folder: string, service: RunningService) {
    this.folder = folder;
    this.service = service;
    this.set('ids', 'ids.txt').set('url', service.url).set('out', 'out').set('state-dir', 'state');
  }

  static async make(options: Partial<Parameters<typeof serveGenerated>[1]> = {}): Promise<Prepared> {
    const folder = await tempFolder();
    const ids = idEntries({ entries: 1500 });
    await writeFile(join(folder, 'ids.txt'), `${ids.join('\n')}\n`);
    const service = await serveGenerated(0, { host: '127.0.0.1', port: 0, clock: systemClock, ...options });
    onTestFinished(() => service.close());
    return new Prepared(folder, service);
  }

  set(flag: string, value: string): this {
    this.flags.set(flag, value);
    return this;
  }

  async write(name: string, text: string): Promise<void> {
    await writeFile(join(this.folder, name), text);
  }

  run(command = 'check', ...more: string[]): Promise<ProgramRun> {
    const flags = [...this.flags].flatMap(([name, value]) => [`--${name}`, value]);
    const { folder: cwd, environment, program } = this;
    const args = [command, ...flags, ...this.more, ...more];
    // Node reads certificates and hooks when it starts.
    if (program === undefined && environment['NODE_EXTRA_CA_CERTS'] === undefined)
      return runHere(args, { cwd, environment });
    return runProgram(args, { cwd, environment, program });
  }

  /** Has the export go to a bucket `bucket`. */
  async inBucket(ways: Partial<BucketWays> = {}): Promise<FaultyServer> {
    const bucket = new BucketOfTests();
    Object.assign(bucket.ways, ways);
    const store = await startFaultyServer(serveS3(bucket, 'secret'));
    onTestFinished(store.stop);
    this.set('out', 's3://bucket/nightly').set('out-endpoint', store.endpoint).set('scratch', 'scratch');
    Object.assign(this.environment, {
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: 'us-east-1',
      AWS_EC2_METADATA_DISABLED: 'true',
    });
    return store;
  }

  /** Has the service speak TLS; no request is answered. */
  async withTls(cert: string, trusted = cert, options: object = {}): Promise<() => number> {
    let requests = 0;
    const tls = createServer({ key: certificates.key, cert, ...options }, () => (requests += 1));
    tls.listen(0, '127.0.0.1');
    await once(tls, 'listening');
    onTestFinished(() => {
      tls.close();
      tls.closeAllConnections();
    });
    await this.write('authority.pem', trusted);
    this.environment['NODE_EXTRA_CA_CERTS'] = join(this.folder, 'authority.pem');
    this.set('url', `https://127.0.0.1:${(tls.address() as AddressInfo).port}`);
    return () => requests;
  }

  async withBase(): Promise<void> {
    this.set('out', 'base').set('format', 'csv');
    const made = await this.run('run');
    expect(made.exit, made.stderr).toBe(0);
    this.set('out', 'out').set('base', 'base').set('base-fetched-at', '2026-11-01T00:00:00Z');
  }

  /** As where packages are not installed. */
  async without(name: string): Promise<void> {
    const error = `Object.assign(new Error("Cannot find package '${name}'"), { code: 'ERR_MODULE_NOT_FOUND' })`;
    const hooks = `export async function resolve(name, context, next) { if (name === '${name}') throw ${error}; return next(name, context); }`;
    await this.write(
      'hooks.mjs',
      `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});`,
    );
    const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
    this.program = ['--import', join(this.folder, 'hooks.mjs'), built];
  }
}

/** A line of `check`: its name, state and text. */
export function linesOf({ stdout }: ProgramRun): Record<string, string> {
  const lines = stdout.trimEnd().split('\n');
  return Object.fromEntries(lines.map((line) => [line.slice(2, 14).trim(), line.slice(15)]));
}
