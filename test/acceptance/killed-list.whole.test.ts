import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { idOfBytes } from '../../src/lib/ids/asset-id.ts';
import { valueOfCheckedJson } from '../../src/lib/hash/sha256.ts';
import type { ListAccount } from '../../src/wings/listing/index.ts';
import { runsAll } from '../support/lane.ts';
import { memberIds, serveMembers, servedCollection, writeMembers } from '../support/listing/collection-service.ts';
import { recordRequests } from '../support/listing/recorded-requests.ts';
import { seeded } from '../support/listing/simulated-index.ts';
import { exportBytes } from '../support/run-export.ts';
import { runHere } from '../support/run-here.ts';
import { runProgram, startProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const kills = runsAll ? 50 : 3;
const members = runsAll ? 25_000 : 3000;
const concurrency = 4;
const pricePerPage = 10;

/** Where a page begins and ends. */
type Place = `${string} ${string}`;

/** The answered pages that a killed process left. An entry that is cut is none. */
function keptPages(folder: string): Place[] {
  const path = join(folder, 'pages.log');
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line) => {
    const entry = valueOfCheckedJson(Buffer.from(line)) as Readonly<Record<string, string>> | undefined;
    return entry?.['kind'] === 'page' ? [`${idOf(entry['after'])} ${idOf(entry['before'])}` as const] : [];
  });
}

function idOf(hex: string | undefined): string {
  return hex === undefined ? '' : idOfBytes(Buffer.from(hex, 'hex'));
}

/** The place that a request asks for; undefined for one of the total, which is asked for with the first page again. */
function placeOf(body: string): Place | undefined {
  const { params } = JSON.parse(body) as {
    readonly params: { readonly after?: string; readonly before?: string; readonly options?: object };
  };
  return params.options === undefined ? `${params.after ?? ''} ${params.before ?? ''}` : undefined;
}

/** What `credits --json` prints. */
interface Booked {
  readonly ledgers: readonly { readonly days: readonly { readonly credits: number }[] }[];
}

function recordsIn(folder: string): [string, string][] {
  return Object.entries(exportBytes(folder)).filter(([name]) => name.includes('/'));
}

async function serveRecorded(folder: string) {
  const file = writeMembers(join(folder, 'members.jsonl'), memberIds(members));
  const service = await serveMembers(file, { faults: [{ fault: 'latency', ms: 15 }] });
  const recorded = await recordRequests(service);
  const close = async (): Promise<void> => {
    await recorded.close();
    await service.close();
  };
  return { service, recorded, close };
}

/** A start of the program takes a second on a busy machine, and a list of 25,000 records some more. */
const mostMs = runsAll ? 1_800_000 : 120_000;

describe('a list that is killed', () => {
  it(
    // Promise, Nothing misread: A list killed anywhere ends with the same bytes and pays for no page again (sampled)
    `by SIGKILL at ${kills} moments has the bytes of a calm one, and pays for no answered page again`,
    async () => {
      const folder = await tempFolder();
      const { service, recorded, close } = await serveRecorded(folder);
      try {
        const options = {
          cwd: folder,
          environment: { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') },
        };
        const command = (name: string): string[] => [
          ...['ids', '--collection', servedCollection, '--url', recorded.url, '--dialect', 'helius'],
          ...['--concurrency', String(concurrency), '--records', `${name}.records`, '--out', name],
        ];
        const beforeMs = performance.now();
        const calm = await runProgram(command('calm'), options);
        expect(calm.exit, calm.stderr).toBe(0);
        const calmMs = performance.now() - beforeMs;
        const random = seeded(7);
        let killed = 0;
        let began = recorded.requests.length;
        for (let list = 1; killed < kills; ) {
          const name = `killed-${list}`;
          const answered = new Set(keptPages(join(folder, `${name}.ids`)));
          const { child, ended } = startProgram(command(name), options);
          const isKilled = await Promise.race([
            ended.then(() => false),
            // Any moment, from its start to what follows the last page.
            pause(random() * calmMs).then(() => child.kill('SIGKILL')),
          ]);
          const { exit, stderr } = await ended;
          for (const { body } of recorded.requests.slice(began)) expect(answered).not.toContain(placeOf(body));
          began = recorded.requests.length;
          if (isKilled && exit === 'SIGKILL') {
            killed += 1;
            // Where nothing is left to do, the same command would be refused: its records are there.
            if (!existsSync(join(folder, `${name}.json`)) || existsSync(join(folder, `${name}.ids`))) continue;
          } else expect(exit, stderr).toBe(0);
          expect(readFileSync(join(folder, name))).toEqual(readFileSync(join(folder, 'calm')));
          expect(recordsIn(join(folder, `${name}.records`))).toEqual(recordsIn(join(folder, 'calm.records')));
          if (exit === 0) expect(existsSync(join(folder, `${name}.ids`))).toBe(false);
          const account = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as ListAccount;
          expect(account).toMatchObject({ members, proof: 'total' });
          list += 1;
        }
        const credits = await runHere(['credits', '--json'], options);
        const { ledgers } = JSON.parse(credits.stdout) as Booked;
        const booked = ledgers[0]?.days[0]?.credits ?? 0;
        const charged = service.counts().credits;
        expect(booked).toBeGreaterThanOrEqual(charged);
        expect(booked - charged).toBeLessThanOrEqual(killed * concurrency * pricePerPage);
      } finally {
        await close();
      }
    },
    mostMs,
  );
});
