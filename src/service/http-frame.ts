import type { Socket } from 'node:net';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Clock } from '../lib/clock.ts';
import { deliver } from './deliver.ts';
import {
  type HttpAnswer,
  jsonAnswer,
  keyMissing,
  keyRefused,
  requestTooBig,
  textAnswer,
  wrongContentType,
} from './http-answer.ts';
import { errorAnswer, internalError } from './json-rpc.ts';
import { readRequestBody } from './read-request-body.ts';

export interface HttpFrameOptions {
  /** True for a key that the service knows. */
  readonly isKey: (key: string) => boolean;
  readonly answer: (key: string, body: Buffer) => HttpAnswer | Promise<HttpAnswer>;
  /** Called for every exchange on the service's path. */
  readonly onExchange: () => void;
  /** Called for an error that the client did not cause. */
  readonly onError: (error: unknown) => void;
  /** How long a client may take to send its whole request. */
  readonly requestTimeoutMs: number;
  /** How long a connection may stand still, as when its client does not read; 0 for ever. */
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
}

type KeyRoute = { Params: { key: string }; Body: Buffer | undefined };

/** HTTP around the service: one path, one health check, and a short refusal for everything else. */
export function createHttpFrame(options: HttpFrameOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    requestTimeout: options.requestTimeoutMs,
    connectionTimeout: options.idleTimeoutMs,
    http: {
      headersTimeout: options.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, options.requestTimeoutMs),
    },
    routerOptions: { maxParamLength: 1000 },
    exposeHeadRoutes: false,
    clientErrorHandler: refuseMalformed,
    frameworkErrors: (_error, _request, reply) => {
      void send(reply, textAnswer(400, 'bad request'));
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    readRequestBody(payload).then(
      (body) => {
        done(null, body);
      },
      (error: unknown) => {
        done(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
  app.setErrorHandler((error: FastifyError, _request, reply) => send(reply, answerToError(error, options.onError)));
  app.setNotFoundHandler((_request, reply) => send(reply, textAnswer(404, 'not found')));
  app.get('/healthz', (_request, reply) => send(reply, textAnswer(200, 'ready')));
  addServicePath(app, options);
  return app;
}

function addServicePath(app: FastifyInstance, options: HttpFrameOptions): void {
  const ending = new AbortController();
  app.addHook('preClose', (done) => {
    ending.abort(new Error('the service ends'));
    done();
  });
  app.post<KeyRoute>('/v3/:key', async (request, reply) => {
    options.onExchange();
    const { key } = request.params;
    if (!options.isKey(key)) return send(reply, keyRefused);
    if (!/^application\/json *(;|$)/i.test(request.headers['content-type'] ?? '')) return send(reply, wrongContentType);
    if (request.body === undefined) return send(reply, requestTooBig);
    const answer = await options.answer(key, request.body);
    if (answer.delivery === undefined) return send(reply, answer);
    reply.hijack();
    // A client or a service that goes away in the middle of a fault is no news.
    await deliver(reply.raw, answer, { clock: options.clock, signal: ending.signal }).catch(() => reply.raw.destroy());
    return reply;
  });
  for (const url of ['/v3', '/v3/']) app.post(url, (_request, reply) => send(reply, keyMissing));
  app.route({
    method: ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'],
    url: '/v3/:key',
    handler: (_request, reply) => send(reply.header('allow', 'POST'), textAnswer(405, 'use POST')),
  });
}

function send(reply: FastifyReply, answer: HttpAnswer): FastifyReply {
  return reply.code(answer.status).headers(answer.headers).send(answer.body);
}

/** Never a stack trace: what the framework refuses keeps its status, anything else is not the client's to know. */
function answerToError(error: FastifyError, onError: (error: unknown) => void): HttpAnswer {
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return textAnswer(status, 'bad request');
  onError(error);
  return jsonAnswer(500, errorAnswer('null', internalError));
}

const statusOfParserError: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** What is not even HTTP gets a status and a closed connection. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = statusOfParserError[error.code ?? ''] ?? '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
