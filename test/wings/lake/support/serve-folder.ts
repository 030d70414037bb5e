import { createServer } from 'node:http';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** Serves the files of a folder, ranges too: for readers that only know the web. */
export async function serveFolder(folder: string): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer((request, response) => {
    void (async () => {
      const path = join(folder, decodeURIComponent(request.url ?? ''));
      const file = await open(path).catch(() => undefined);
      if (file === undefined) {
        response.writeHead(404).end();
        return;
      }
      const { size } = await file.stat();
      const [, from = '0', to = String(size - 1)] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? [];
      const end = Math.min(size - 1, to === '' ? size - 1 : Number(to));
      const bytes = Buffer.alloc(Math.max(0, end - Number(from) + 1));
      await file.read(bytes, 0, bytes.length, Number(from));
      await file.close();
      response.writeHead(request.headers.range === undefined ? 200 : 206, { 'content-length': bytes.length });
      response.end(request.method === 'HEAD' ? undefined : bytes);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  return { url: `http://127.0.0.1:${address.port}`, close: () => void server.close() };
}
