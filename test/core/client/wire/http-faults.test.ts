import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { createFakeClock, settled } from '../../../support/fake-clock.ts';
import { rawServer, type RawServer } from '../support/bad-proxies.ts';
import { failureOf, httpClient, pairBody, pairCall } from '../support/http-exchange.ts';
import { reply, startRoughServer } from '../support/rough-server.ts';
import { freePort } from '../../../support/free-port.ts';

describe('an http client on a bad line', () => {
  it('calls a reset before, within and after the head transient', async () => {
    const server = await startRoughServer((response, _, n) => {
      if (n === 1) response.socket?.resetAndDestroy();
      else {
        response.writeHead(200, { 'content-length': pairBody.length });
        if (n === 2) response.flushHeaders();
        else response.write(pairBody.subarray(0, 100));
        setImmediate(() => response.socket?.resetAndDestroy());
      }
    });
    const http = httpClient(server.url);
    for (let n = 0; n < 3; n += 1) {
      expect(await failureOf(http.ask(pairCall))).toMatchObject({
        failure: 'transport',
        unsent: false,
        message: expect.stringMatching(/^connection failed/) as string,
      });
    }
  });

  // Promise, Nothing misread: A cut body is never taken for an answer
  it('never takes a cut body for an answer, with or without its announced length', async () => {
    const server = await startRoughServer((response, _, n) => {
      const cut = pairBody.subarray(0, n * 20);
      if (n % 2 === 0) reply(response, { body: cut });
      else {
        response.writeHead(200, { 'content-length': pairBody.length });
        response.write(cut, () => response.socket?.destroy());
      }
    });
    const http = httpClient(server.url);
    for (let n = 1; n * 20 < pairBody.length; n += 1)
      expect(await failureOf(http.ask(pairCall))).toMatchObject({ failure: 'transport' });
  });

  it('knows that a call never left when the connection is refused or the name unknown', async () => {
    const port = await freePort();
    expect(await failureOf(httpClient(`http://127.0.0.1:${port}`).ask(pairCall))).toMatchObject({
      failure: 'transport',
      unsent: true,
    });
    expect(await failureOf(httpClient('http://no-such-host.invalid').ask(pairCall))).toMatchObject({
      failure: 'transport',
      unsent: true,
    });
  });

  it.each([
    [42, 'BAD_CERTIFICATE'],
    [43, 'UNSUPPORTED_CERTIFICATE'],
    [44, 'CERTIFICATE_REVOKED'],
    [45, 'CERTIFICATE_EXPIRED'],
    [46, 'CERTIFICATE_UNKNOWN'],
    [48, 'UNKNOWN_CA'],
    [116, 'CERTIFICATE_REQUIRED'],
  ])('ends all when the service does not take its certificate: alert %i, %s', async (alert, name) => {
    const error = await failureOf(httpClient(`https://${(await alerting(alert)).at}`).ask(pairCall));
    expect(error).toMatchObject({ exit: 'notTrusted', facts: { sent: false } });
    expect(error.message).toMatch(
      /^The service does not accept the certificate of this client: [a-z0-9 /]+ \(ERR_SSL_/,
    );
    expect(error.message).toContain(name);
  });

  it('tries again after any other alert of TLS', async () => {
    const error = await failureOf(httpClient(`https://${(await alerting(80)).at}`).ask(pairCall));
    expect(error).toMatchObject({ failure: 'transport', unsent: true });
    expect(error.message).toMatch(/^connection failed: [a-z0-9 ]+internal error \(ERR_SSL_/);
  });

  it('reports each call that failed, and why', async () => {
    const answers = [
      { status: 429, body: Buffer.from('slow down') },
      { status: 502, body: Buffer.from('') },
      { status: 200, body: Buffer.from('{"jsonrpc":"2.0","id":1,"error":{"code":-32050,"message":"busy"}}') },
      { status: 200, body: Buffer.from('<html>') },
      { status: 401, body: Buffer.from('invalid key') },
    ];
    const server = await startRoughServer((response, _, n) => {
      const answer = answers[n - 1];
      if (answer === undefined) response.socket?.destroy();
      else reply(response, answer);
    });
    const failed: string[] = [];
    const http = httpClient(server.url, {
      listener: (event) => {
        if (event.kind === 'failed') failed.push(event.why);
      },
    });
    for (let call = 0; call <= answers.length; call += 1) await http.ask(pairCall).catch(() => undefined);
    expect(failed).toEqual(['http_429', 'http_5xx', 'rpc', 'other', 'other', 'connection']);
  });

  it('ends at the deadline of the whole exchange when the service hangs', async () => {
    const clock = createFakeClock();
    const server = await startRoughServer(() => undefined);
    const work = failureOf(httpClient(server.url, { clock, timeoutMs: 5000 }).ask(pairCall));
    await server.received(1);
    await clock.advance(5000);
    expect(await work).toMatchObject({ failure: 'transport', message: 'no complete answer within 5 s' });
  });

  it('ends at the deadline when bytes drip in steadily', async () => {
    const clock = createFakeClock();
    let drip: ((bytes: Buffer) => void) | undefined;
    const server = await startRoughServer((response) => {
      response.writeHead(200);
      drip = (bytes) => response.write(bytes);
    });
    const work = failureOf(httpClient(server.url, { clock, timeoutMs: 5000 }).ask(pairCall));
    await server.received(1);
    for (let n = 0; n < 10; n += 1) {
      drip?.(pairBody.subarray(n, n + 1));
      await clock.advance(500);
    }
    expect(await work).toMatchObject({ failure: 'transport', message: 'no complete answer within 5 s' });
  });

  it('leaves no deadline behind', async () => {
    const clock = createFakeClock();
    const server = await startRoughServer((response, _, n) => {
      reply(response, { status: n === 1 ? 200 : 502, body: pairBody });
    });
    const http = httpClient(server.url, { clock });
    await http.ask(pairCall);
    await failureOf(http.ask(pairCall));
    expect(clock.sleepers()).toBe(0);
  });

  it('ends an exchange in flight with the reason of abort', async () => {
    const abort = new AbortController();
    const reason = new ExportError('interrupted', 'SIGINT');
    const server = await startRoughServer((response, _, n) => {
      if (n > 1) return;
      response.writeHead(503);
      response.write('<html>');
    });
    const http = httpClient(server.url, { abort: abort.signal });
    const work = [http.ask(pairCall), http.ask(pairCall)];
    work.forEach((each) => void each.catch(() => undefined));
    await server.received(2);
    await settled();
    abort.abort(reason);
    for (const each of work) await expect(each).rejects.toBe(reason);
    expect(await failureOf(http.ask(pairCall))).toMatchObject({ exit: 'interrupted', facts: { sent: false } });
    expect(server.seen).toHaveLength(2);
  });
});

describe('an http client before too many bytes', () => {
  it('ends a gzip bomb early', async () => {
    let sent = 0;
    const server = await startRoughServer((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const zeros = Buffer.alloc(1 << 20);
      const gzip = createGzip();
      gzip.on('data', (bytes: Buffer) => {
        sent += bytes.length;
      });
      gzip.pipe(response);
      for (let n = 0; n < 200; n += 1) gzip.write(zeros);
      gzip.end();
    });
    const before = process.memoryUsage().arrayBuffers;
    expect(await failureOf(httpClient(server.url, { maxAnswerBytes: 5_000_000 }).ask(pairCall))).toMatchObject({
      failure: 'transport',
      message: 'an answer of more than 5000000 bytes',
    });
    expect(sent).toBeLessThan(1_000_000);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(60_000_000);
  });

  it('stops reading a body without end', async () => {
    const server = await startRoughServer((response) => {
      const piece = Buffer.alloc(65_536, 'x');
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once('drain', more);
      };
      response.writeHead(200);
      more();
    });
    expect(await failureOf(httpClient(server.url).ask(pairCall))).toMatchObject({
      failure: 'transport',
      message: 'an answer of more than 1000000 bytes',
    });
  });

  it('does without the words of an error that is too long', async () => {
    const server = await startRoughServer((response) => {
      reply(response, { status: 500, body: Buffer.alloc(200_000, 'x') });
    });
    expect(await failureOf(httpClient(server.url).ask(pairCall))).toMatchObject({
      failure: 'transport',
      message: 'HTTP 500',
    });
  });

  it.each([
    ['cut gzip', gzipSync(pairBody).subarray(0, 60), 'gzip', 'truncated or damaged gzip data'],
    ['no gzip', pairBody, 'gzip', 'truncated or damaged gzip data'],
    ['cut brotli', brotliCompressSync(pairBody).subarray(0, 20), 'br', 'truncated or damaged br data'],
    ['an unknown coding', pairBody, 'zstd', 'the content coding "zstd", which was not requested'],
    ['one of several', gzipSync(pairBody), 'zst\td, gzip', 'the content coding "zst d", which was not requested'],
  ])('calls %s transient, and says what came', async (...[, body, encoding, message]) => {
    const server = await startRoughServer((response) => {
      reply(response, { body, headers: { 'content-encoding': encoding } });
    });
    expect(await failureOf(httpClient(server.url).ask(pairCall))).toMatchObject({ failure: 'transport', message });
  });

  it.each([
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['gzip', gzipSync],
  ])('holds no more than it may of %s', async (encoding, compress) => {
    const server = await startRoughServer((response) => {
      reply(response, { body: compress(Buffer.alloc(2_000_000)), headers: { 'content-encoding': encoding } });
    });
    expect(await failureOf(httpClient(server.url).ask(pairCall))).toMatchObject({
      failure: 'transport',
      message: 'an answer of more than 1000000 bytes',
    });
  });

  it('reads an error that is gzip and does not say so', async () => {
    const server = await startRoughServer((response, _, n) => {
      const body = gzipSync('upstream went away');
      reply(response, { status: 502, body: n === 1 ? body : body.subarray(0, 15) });
    });
    const http = httpClient(server.url);
    expect(await failureOf(http.ask(pairCall))).toMatchObject({ message: 'HTTP 502: upstream went away' });
    expect(await failureOf(http.ask(pairCall))).toMatchObject({ message: 'HTTP 502' });
  });
});

/** A server that ends each TLS handshake with this alert. */
function alerting(alert: number): Promise<RawServer> {
  return rawServer((socket) => socket.once('data', () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, alert]))));
}
