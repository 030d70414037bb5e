/**
 * The load server of `npm run bench`, a process of its own: prepared answers, so that it is never the limit.
 *
 *     node --import ts-blank-space/register bench/answer-server.ts --latency-ms 100 --records FILE
 *
 * The records are generated where no file is given. Prints its address as the first line on stdout and ends with its stdin. `GET /calls` tells how many calls
 * it answered.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { PreparedAnswers } from './load/prepared-answers.ts';
import { recordsOf } from './load/records.ts';

const { values } = parseArgs({
  options: {
    'latency-ms': { type: 'string', default: '0' },
    // Works at so many calls at once, and lets others wait; refuses more calls at once than the most.
    workers: { type: 'string', default: '100000' },
    most: { type: 'string', default: '100000' },
    bodies: { type: 'string', default: '20' },
    records: { type: 'string', default: '' },
  },
});
const latencyMs = Number(values['latency-ms']);
const answers = new PreparedAnswers(Number(values.bodies), recordsOf(values.records));
const most = Number(values.most);
let calls = 0;
let atOnce = 0;
/** When each worker is free. */
const free = Array.from({ length: Number(values.workers) }, () => 0);

/** How long a call takes that comes now. */
function takesMs(): number {
  if (free.length >= 100_000) return latencyMs;
  const nowMs = performance.now();
  const worker = free.indexOf(Math.min(...free));
  const endsMs = Math.max(nowMs, free[worker] ?? 0) + latencyMs;
  free[worker] = endsMs;
  return endsMs - nowMs;
}

const server = createServer((request, response) => {
  if (request.method === 'GET') response.end(String(calls));
  else collect(request, response);
});

function collect(request: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.once('end', () => {
    const body = Buffer.concat(pieces);
    if (latencyMs === 0) respond(body, response);
    else if (atOnce >= most) response.writeHead(503).end();
    else {
      atOnce += 1;
      setTimeout(() => {
        atOnce -= 1;
        respond(body, response);
      }, takesMs());
    }
  });
}

function respond(request: Buffer, response: ServerResponse): void {
  const answer = answers.answer(request);
  if (answer === undefined) {
    response.writeHead(404).end('the load server knows one kind of call: getAssets with ids of 44 characters');
    return;
  }
  calls += 1;
  response.once('close', answer.done);
  const length = answer.pieces.reduce((sum, piece) => sum + piece.length, 0);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  for (const piece of answer.pieces) response.write(piece);
  response.end();
}

// Connections stay open while a program pauses between its calls.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.stdin.on('end', () => process.exit()).resume();
