import { channel } from 'node:diagnostics_channel';
import { describe, expect, it } from 'vitest';
import type { Dispatcher } from '../../../../src/core/client/wire/connections.ts';
import { exchange } from '../../../../src/core/client/wire/exchange.ts';
import { serviceAddress } from '../../../../src/core/client/wire/service-address.ts';
import { BufferPool } from '../../../../src/lib/buffer-pool.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { rawServer } from '../support/bad-proxies.ts';
import { answerBody, recordText } from '../support/calls.ts';
import { expectFewMore, exportOf } from '../support/export-of-calls.ts';
import { type Forgetting, forgetfulServer } from '../support/forgetful-server.ts';

const forgets: readonly Forgetting[] = [
  { share: 0.2, by: 'RST', at: 'end' },
  { share: 1, by: 'RST', at: 'head' },
  { share: 1, by: 'FIN', at: 'end' },
  { share: 0.5, by: 'FIN', at: 'end', secure: true },
];

describe('a balancer that forgets used connections', () => {
  it.each(forgets)('costs a call at most twice: %o', expectFewMore);

  it('is told once, and each request has its own connection from then on', async () => {
    const server = await forgetfulServer({ share: 1, by: 'RST', at: 'end' });
    const { warnings } = await exportOf(server.url, 40);
    expect(warnings).toEqual([
      'the service, or a balancer before it, ends used connections: each request has its own from now on',
    ]);
    expect(server.lost()).toBeLessThanOrEqual(8 + 3);
    expect(server.connections()).toBeGreaterThan(30);
  });

  it('changes nothing while it forgets few: connections are kept', async () => {
    const server = await forgetfulServer({ share: 0.05, by: 'FIN', at: 'end' });
    const { warnings } = await exportOf(server.url, 40);
    expect(warnings).toEqual([]);
    expect(server.lost()).toBe(1);
    expect(server.connections()).toBeLessThanOrEqual(8 + 2);
  });

  it.each(['', 'connection: keep-alive\r\n'])('may speak HTTP/1.0, with "%s"', async (header) => {
    let requests = 0;
    const server = await rawServer((socket) => {
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        const body = text.slice(text.indexOf('\r\n\r\n') + 4);
        if (!body.endsWith('}')) return;
        requests += 1;
        const { id, params } = JSON.parse(body) as { id: number; params: [string[]] };
        const answer = answerBody(params[0].map(recordText), id);
        socket.end(`HTTP/1.0 200 OK\r\n${header}content-length: ${answer.length}\r\n\r\n${String(answer)}`);
      });
    });
    const { events } = await exportOf(`http://${server.at}`);
    expect(events.filter(({ kind }) => kind === 'retry')).toEqual([]);
    expect(requests).toBe(20);
  });
});

describe('an exchange', () => {
  it.each([
    ['EPIPE', 'write EPIPE'],
    ['ECONNRESET', 'read ECONNRESET'],
    ['UND_ERR_SOCKET', 'other side closed'],
    ['ERR_SSL_UNEXPECTED_EOF_WHILE_READING', 'unexpected eof while reading'],
  ])('is lost with a used connection before a byte came, and only then: %s', async (code, message) => {
    const failure = () => Object.assign(new Error(message), { code });
    const used = { bytesRead: 0 };
    expect(await outcomeOver(used, failure())).toMatchObject({ failure: 'transport', lost: false });
    expect(await outcomeOver(used, undefined)).toMatchObject({ status: 200 });
    expect(await outcomeOver(used, failure())).toMatchObject({ failure: 'transport', lost: true, unsent: false });
    expect(await outcomeOver(used, failure(), 1)).toMatchObject({ failure: 'transport', lost: false });
  });
});

/** What an exchange over this socket ends with: the answer, or the error of a scripted end. */
function outcomeOver(socket: { bytesRead: number }, error: Error | undefined, bytes = 0): Promise<unknown> {
  const dispatch = (_: unknown, handler: Dispatcher.DispatchHandler): boolean => {
    const controller = { abort: () => undefined } as unknown as Dispatcher.DispatchController;
    handler.onRequestStart?.(controller, {});
    channel('undici:client:sendHeaders').publish({ socket });
    socket.bytesRead += bytes;
    if (error === undefined) {
      handler.onResponseStart?.(controller, 200, {});
      handler.onResponseEnd?.(controller, {});
    } else handler.onResponseError?.(controller, error);
    return true;
  };
  return exchange({ dispatch } as unknown as Dispatcher, Buffer.from('{}'), {
    address: serviceAddress({ url: 'http://127.0.0.1:9', apiKey: 'canary-key' }),
    timeoutMs: 1000,
    maxAnswerBytes: 1000,
    clock: createFakeClock(),
    pool: new BufferPool(0),
    way: '',
    fresh: false,
  }).catch((reason: unknown) => reason);
}
