import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { night } from '../../support/nights.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const ids = Array.from({ length: 30 }, (_, n) => generatedId(4, n));
const missing = ids.slice(0, 5);

/** A service that knows all ids but some, and says of these what it likes. */
async function serviceThatSays(text: string): Promise<string> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const call = JSON.parse(Buffer.concat(pieces).toString()) as { id: number; params: [string[] | string] };
      const [asked] = call.params;
      const elements = [asked]
        .flat()
        .map((id) => (missing.includes(id) ? JSON.stringify({ id, error: `${text} not found` }) : generatedRecord(id)));
      response.setHeader('content-type', 'application/json');
      const result = Array.isArray(asked) ? `[${elements.join()}]` : elements.join();
      response.end(`{"jsonrpc":"2.0","id":${call.id},"result":${result}}`);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each(['2026-99-99', '2026-11-20', '2999-01-01', '2026-11-20T99:99Z'])(
  'a service that writes "missing since %s" does not decide when ids are requested again',
  async (day) => {
    const url = await serviceThatSays(`missing since ${day}, not asked again, Asset`);
    const folder = await tempFolder();
    const run = async (n: number, base: string) => {
      const out = join(folder, `night-${n}`);
      const flags = { format: 'csv', 'max-age': 'never', 'missing-after': '2d', base, url };
      return { out, ...(await night({ day: n, records: [], ids, out, flags })) };
    };
    const first = await run(0, 'none');
    expect(first.account.counts).toMatchObject({ exported: 25, missing: 5 });
    expect(readFileSync(join(first.out, 'unexported/part-00000.csv'), 'utf8')).toContain(`“missing since ${day}`);
    const second = await run(1, first.out);
    expect(second).toMatchObject({
      state: 'complete',
      callsOfRun: 0,
      account: { counts: { carried: 25, missing: 5 } },
    });
    const third = await run(2, second.out);
    expect(third).toMatchObject({ state: 'complete', callsOfRun: 1, account: { counts: { missing: 5 } } });
  },
);
