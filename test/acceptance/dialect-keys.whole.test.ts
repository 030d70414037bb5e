import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dialectOf } from '../../src/core/job/job-dialect.ts';
import { readNamedDialect } from '../../src/core/job/dialect-file.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { startService } from '../../src/practice-service.ts';
import { memberIds, servedCollection, writeMembers } from '../support/listing/collection-service.ts';
import { runHere } from '../support/run-here.ts';
import { tempFolder } from '../support/temp-folder.ts';

const apiKey = 'k%/?&=+y9';
const ids = memberIds(30);

/** As a service or a proxy may repeat it. */
const spellings = [apiKey, encodeURIComponent(apiKey)];

const places = {
  'in a segment': 'path: "/rpc/{key}"',
  'in a query': 'path: "/rpc?a=1&token={key}"',
  'in a header': 'path: /rpc\nheader: "Authorization: Bearer {key}"',
};

/** Everything below a folder, as text. Compressed files are read too. */
function textsIn(folder: string): [string, string][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name): [string, string][] => {
    const path = join(folder, name);
    if (!statSync(path).isFile()) return [];
    const bytes = readFileSync(path);
    return [[name, (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1')]];
  });
}

/** Keeps what is sent to it. */
async function receiver(): Promise<{ readonly url: string; readonly received: string[] }> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += String(piece)));
    request.on('end', () => {
      received.push(`${request.url ?? ''}\n${JSON.stringify(request.headers)}\n${body}`);
      response.end('ok');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

describe('a key', () => {
  it.each(Object.entries(places))(
    'that goes %s shows in no output, file or notification, though the service repeats it',
    async (_, placed) => {
      const folder = await tempFolder();
      const dialectFile = join(folder, 'provider.yaml');
      writeFileSync(dialectFile, `like: helius\n${placed}\n`);
      const dialect = dialectOf(readNamedDialect(dialectFile, folder));
      const said = `refused ${spellings.join(' and ')} at /rpc/${encodeURIComponent(apiKey)}?token=${encodeURIComponent(apiKey)}`;
      const service = await startService({
        assets: [writeMembers(join(folder, 'members.jsonl'), ids)],
        host: '127.0.0.1',
        port: 0,
        dialect,
        apiKeys: [apiKey],
        clock: systemClock,
        // The first calls are refused with the key in the words, and later an id is.
        faults: {
          faults: [
            { fault: 'body', text: said, status: 401, when: { first: 4 } },
            { fault: 'poison', ids: ids.slice(0, 1), message: `Pubkey Validation Err: {id} is invalid, ${said}` },
          ],
        },
      });
      onTestFinished(() => service.close());
      const { url, received } = await receiver();
      writeFileSync(join(folder, 'ids.txt'), `${ids.join('\n')}\n`);
      writeFileSync(
        join(folder, 'job.yaml'),
        [
          'ids: {from: [ids.txt]}',
          `service: {url: "${service.url}", dialect: provider.yaml, idsPerCall: 10, retries: 3}`,
          'output: {dir: out, formats: [csv, raw]}',
          `notify: [{url: "${url}", on: [success, failure]}]`,
        ].join('\n'),
      );
      const outputs: string[] = [];
      const options = {
        cwd: folder,
        environment: { ASSET_EXPORT_API_KEY: apiKey, ASSET_EXPORT_STATE: join(folder, 'state') },
      };
      const at = ['--dialect', 'provider.yaml', '--url', service.url];
      const listed = ['ids', '--collection', servedCollection, ...at, '--out', 'mints.txt', '--records', 'listed'];
      const refused = [
        ['check', 'job.yaml', '--call'],
        ['run', 'job.yaml', '--log-level', 'trace'],
        ['get', ...ids.slice(0, 2), ...at],
        listed,
      ];
      const commands = [
        ...refused,
        ['check', 'job.yaml', '--call'],
        ['plan', 'job.yaml', '--json'],
        ['run', 'job.yaml', '--log-level', 'trace'],
        ['run', 'job.yaml', '--json', '--fresh', '--max-failed', '100%'],
        ['status', 'out', '--json'],
        ['report', 'out'],
        ['get', ...ids.slice(0, 2), ...at],
        [...listed, '--json'],
        ['ids', '--owner', servedCollection, ...at, '--out', 'owned.txt', '--log-level', 'trace'],
        ['credits', ...at, '--json'],
        ['credits', 'set', '1000', ...at],
      ];
      for (const [index, command] of commands.entries()) {
        const { stdout, stderr, exit } = await runHere(command, options);
        const exits = index < refused.length ? [6] : [0, 3];
        expect(exits, `${command.join(' ')}: ${exit} ${stderr}`).toContain(exit);
        outputs.push(stdout, stderr);
      }
      expect(received.length).toBeGreaterThan(1);
      const files = textsIn(folder);
      expect(files.map(([name]) => name)).toEqual(expect.arrayContaining(['out/manifest.json', 'mints.txt.json']));
      for (const spelling of spellings) {
        for (const text of [...outputs, ...received]) expect(text).not.toContain(spelling);
        for (const [name, text] of files) expect(text.includes(spelling), name).toBe(false);
      }
    },
  );
});
