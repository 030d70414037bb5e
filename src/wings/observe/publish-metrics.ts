import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenParts } from '../../core/job/job-sections.ts';
import { codeOf, ExportError, messageOf } from '../../lib/export-error.ts';
import { type ObservedRun, type RunObserver } from '../../core/work/run-observer.ts';
import { bookedToday, RunMetrics } from './run-metrics.ts';

const fileEveryMs = 15_000;

/** Serves the metrics of a run, and writes them to a file, as its job wants. @throws {ExportError} `usage` when it cannot listen */
export async function publishMetrics(run: ObservedRun): Promise<RunObserver> {
  const { listen, file } = run.job.metrics;
  const metrics = new RunMetrics(run, await bookedToday(run));
  const server = listen === undefined ? undefined : await serveMetrics(metrics, listen);
  const written = file === undefined ? undefined : await metricsFile(run, metrics, file);
  return {
    listener: metrics.listener,
    end: async (end) => {
      metrics.end(end);
      await written?.end();
      await server?.close();
    },
  };
}

async function serveMetrics(metrics: RunMetrics, address: string): Promise<{ close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0];
    if (path === '/metrics') {
      metrics.text().then(
        (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
        (error: unknown) => response.writeHead(500).end(`${messageOf(error)}\n`),
      );
    } else if (path === '/healthz') {
      const isHealthy = metrics.isHealthy();
      response.writeHead(isHealthy ? 200 : 503).end(isHealthy ? 'ok' : 'no progress for 15 minutes');
    } else response.writeHead(404).end('see /metrics and /healthz\n');
  });
  await listening(server, address);
  // A scraper that keeps its connection does not keep the program.
  server.unref();
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/** Sees that metrics can be served there. @throws {ExportError} `usage` */
export async function requireListening(address: string): Promise<void> {
  const server = createServer();
  await listening(server, address);
  server.close();
}

function listening(server: Server, address: string): Promise<AddressInfo | string | null> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const why = codeOf(error) === 'EADDRINUSE' ? 'the port is in use' : messageOf(error);
      reject(
        new ExportError('usage', `cannot serve metrics on ${address}: ${why}`, {
          todo: 'Choose another port for metrics.listen (--metrics-listen). Runs at the same time need one each.',
        }),
      );
    });
    server.listen(listenParts(address), () => {
      resolve(server.address());
    });
  });
}

/** Writes the file every 15 seconds. A failure is one warning. */
async function metricsFile(run: ObservedRun, metrics: RunMetrics, path: string): Promise<{ end(): Promise<void> }> {
  const success = lastSuccess(await readFile(path, 'utf8').catch(() => ''));
  if (success !== undefined) metrics.keepSuccess(success);
  let hasFailed = false;
  const write = async (): Promise<void> => {
    // node-exporter reads every file that ends in .prom.
    const temporary = `${path}.${process.pid}.tmp`;
    try {
      await writeFile(temporary, await metrics.text());
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      if (!hasFailed) run.listener({ kind: 'warning', message: `cannot write the metrics file: ${messageOf(error)}` });
      hasFailed = true;
    }
  };
  const stopped = new AbortController();
  const writeOften = async (): Promise<void> => {
    for (;;) {
      await write();
      await run.clock.sleep(fileEveryMs, stopped.signal);
    }
  };
  const writing = writeOften().catch(() => undefined);
  return {
    end: async () => {
      stopped.abort();
      await writing;
      await write();
    },
  };
}

function lastSuccess(text: string): number | undefined {
  const [, value] = /^asset_export_last_success_timestamp_seconds(?:\{[^}]*\})? (\S+)$/m.exec(text) ?? [];
  const seconds = Number(value);
  return value === undefined || !Number.isFinite(seconds) ? undefined : seconds;
}
