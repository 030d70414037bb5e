import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { type RunningService, startService } from '../../../src/practice-service.ts';
import { sampled } from '../../model/support/sample.ts';
import { memberIds, serveMembers, servedCollection, writeMembers } from '../../support/listing/collection-service.ts';
import { fileBytes } from '../../support/run-export.ts';
import { runHere } from '../../support/run-here.ts';
import type { ProgramRun } from '../../support/run-program.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { damages, filesBelow } from './damages.ts';

const ids = Array.from({ length: 90 }, (_, n) => generatedId(4, n));
let top: Awaited<ReturnType<typeof keptFolder>>;
let service: RunningService;
let lists: RunningService;

beforeAll(async () => {
  top = await keptFolder();
  const assets = join(top.path, 'assets.jsonl');
  // The last id is not known.
  writeFileSync(
    assets,
    ids
      .slice(0, -1)
      .map((id) => `${generatedRecord(id)}\n`)
      .join(''),
  );
  service = await startService({ assets: [assets], host: '127.0.0.1', port: 0, clock: systemClock });
  lists = await serveMembers(writeMembers(join(top.path, 'members.jsonl'), memberIds(2500)));
});

afterAll(async () => {
  await service.close();
  await lists.close();
  await top.remove();
});

type Words = readonly string[];

interface Kept {
  /** Makes what a stopped program leaves. `other` has other ids. */
  readonly make: (run: (...words: Words) => Promise<ProgramRun>, folder: string, other: boolean) => Promise<void>;
  /** The command that goes on, or reads. */
  readonly again: () => Words;
  /** What it makes, by name. */
  readonly made: (folder: string) => Readonly<Record<string, string>>;
  /** The export that is made. */
  readonly checked?: string;
}

const parts = ['--format', 'csv,parquet', '--ids-per-call', '10', '--rows-per-part', '20', '--concurrency', '1'];
const exported = (out: string) => (folder: string) => fileBytes(join(folder, out));
const runOf = (out: string): Words => ['run', '--ids', 'ids.txt', '--url', service.url, '--out', out, ...parts];
const nightOf = (day: string): Words => [...runOf(`n/date=${day}`), '--base', 'n/date=*', '--base-first', 'request'];
const listed = (): Words => [
  ...['ids', '--collection', servedCollection, '--url', lists.url, '--dialect', 'helius', '--concurrency', '1'],
  ...['--records', 'records', '--out', 'list.txt'],
];

interface Ended {
  readonly how: string;
  readonly path: string;
  readonly ended: ProgramRun;
}

/** Exit codes that name the file. */
function allowed(how: string, path: string): readonly number[] {
  if (['a folder', 'a link', 'a pipe', 'a device'].includes(how)) return [7, 12];
  // An export of other ids is not resumed, and without its manifest it is none.
  if (how === 'the file of another') return [2, 4, 12];
  return how === 'removed' && path.endsWith('manifest.json') ? [2, 12] : [12];
}

function ended({ exit, stderr }: ProgramRun, code: number): void {
  expect(exit, stderr).toBe(code);
}

function putIds(folder: string, own: readonly string[]): void {
  writeFileSync(join(folder, 'ids.txt'), own.map((id) => `${id}\n`).join(''));
}

const kept: Readonly<Record<string, Kept>> = {
  'a stopped run': {
    make: async (run, folder, other) => {
      putIds(folder, other ? ids.toReversed() : ids);
      ended(await run(...runOf('out'), '--credits-per-run', '800'), 8);
    },
    again: () => runOf('out'),
    made: exported('out'),
    checked: 'out',
  },
  'a complete run, written anew': {
    make: async (run, folder, other) => {
      putIds(folder, other ? ids.toReversed() : ids);
      ended(await run(...runOf('out')), 0);
    },
    again: () => ['rebuild', 'out', '--format', 'jsonl', '--out', 'new'],
    made: exported('new'),
  },
  'a stopped night and its base': {
    make: async (run, folder, other) => {
      const [first, second] = other ? [ids.slice(30), ids] : [ids.slice(0, 60), ids.toReversed()];
      putIds(folder, first);
      ended(await run(...nightOf('2026-11-20')), 0);
      putIds(folder, second);
      ended(await run(...nightOf('2026-11-21'), '--credits-per-run', '320'), 8);
    },
    again: () => nightOf('2026-11-21'),
    made: exported('n/date=2026-11-21'),
    checked: 'n/date=2026-11-21',
  },
  'a stopped list': {
    make: async (run, _, other) => {
      const only = other ? ['--show-collection-metadata'] : [];
      ended(await run(...listed(), ...only, '--credits-per-run', '20'), 8);
    },
    again: listed,
    made: (folder) => ({
      ...exported('records')(folder),
      list: existsSync(join(folder, 'list.txt')) ? readFileSync(join(folder, 'list.txt'), 'utf8') : '',
    }),
  },
};

describe.each(Object.entries(kept))('what %s left', (name, { make, again, made, checked }) => {
  const folder = (which: string): string => join(top.path, name.replaceAll(' ', '-'), which);
  const run = async (which: string, ...words: Words) => {
    const cwd = folder(which);
    const environment = { ASSET_EXPORT_API_KEY: 'abcdefgh', ASSET_EXPORT_STATE: join(cwd, 'state') };
    return runHere(words, { cwd, environment });
  };
  let files: readonly string[] = [];
  let right: Readonly<Record<string, string>>;

  beforeAll(async () => {
    for (const which of ['stopped', 'other']) {
      mkdirSync(folder(which), { recursive: true });
      await make((...words) => run(which, ...words), folder(which), which === 'other');
    }
    files = filesBelow(folder('stopped')).filter((path) => path !== 'ids.txt');
    cpSync(folder('stopped'), folder('calm'), { recursive: true });
    const { exit, stderr } = await run('calm', ...again());
    expect(exit, stderr).toBe(0);
    right = made(folder('calm'));
  }, 60_000);

  const problemOf = async ({ how, path, ended: { exit, stderr } }: Ended): Promise<string | undefined> => {
    if (stderr.includes('this is a bug')) return `a bug: ${stderr}`;
    if (exit !== 0)
      return allowed(how, path).includes(Number(exit)) ? undefined : `exit ${exit}: ${stderr.slice(-300)}`;
    const found = made(folder('case'));
    const other = Object.keys({ ...right, ...found }).filter((each) => found[each] !== right[each]);
    if (other.length === 0) return undefined;
    // A run does not read committed parts of the right length again: verify finds them. One without its start begins later.
    const verified = checked === undefined ? undefined : (await run('case', 'verify', checked)).exit;
    if (verified === 12 || (verified === 0 && how === 'removed' && path.endsWith('start.json'))) return undefined;
    return `other bytes of ${other.slice(0, 3).join()}`;
  };

  // Promise, Nothing misread: Kept files damaged in 16 ways give right bytes or an error (sampled)
  it.each(sampled(Object.entries(damages), 3))(
    'is right or named with 12: %s',
    async (how, damage) => {
      const wrong: string[] = [];
      const taken = sampled(files, 16);
      for (const path of taken) {
        rmSync(folder('case'), { recursive: true, force: true });
        cpSync(folder('stopped'), folder('case'), { recursive: true });
        const victim = join(folder('case'), 'victim');
        writeFileSync(victim, 'mine');
        damage({ path: join(folder('case'), path), other: join(folder('other'), path), victim });
        const problem = await problemOf({ how, path, ended: await run('case', ...again()) });
        if (readFileSync(victim, 'utf8') !== 'mine') wrong.push(`${path}: written through a link`);
        else if (problem !== undefined) wrong.push(`${path}: ${problem}`);
      }
      expect(wrong, `${wrong.length} of ${taken.length}`).toEqual([]);
    },
    120_000,
  );
});

describe('what a service with a store left', () => {
  const options = (store: string) => ({ assets: [join(top.path, 'assets.jsonl')], storeDir: join(top.path, store) });
  const known = ids.slice(0, 20);
  const asked = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAssets', params: [known, {}] });

  /** Whether its answers are right, refused, or the service does not start. */
  const answered = async (store: string): Promise<string> => {
    const started = startService({ ...options(store), host: '127.0.0.1', port: 0, clock: systemClock });
    const served = await started.catch((error: unknown) => error);
    if (served instanceof ExportError)
      return ['damaged', 'cannotWrite'].includes(served.exit) ? 'named' : String(served);
    if (served instanceof Error) return `a bug: ${served.stack ?? ''}`;
    const running = served as RunningService;
    try {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${running.url}/v3/key`, { method: 'POST', headers, body: asked });
      const text = await answer.text();
      return answer.status === 500 ? 'named' : text;
    } finally {
      await running.close();
    }
  };

  it.each(Object.entries(damages))('is right or named: %s', async (how, damage) => {
    const right = await answered('kept');
    expect(right).toContain(known[7]);
    const files = filesBelow(join(top.path, 'kept'));
    const wrong: string[] = [];
    for (const path of sampled(files, 5)) {
      rmSync(join(top.path, 'case'), { recursive: true, force: true });
      cpSync(join(top.path, 'kept'), join(top.path, 'case'), { recursive: true });
      const victim = join(top.path, 'victim');
      writeFileSync(victim, 'mine');
      damage({ path: join(top.path, 'case', path), other: join(top.path, 'kept', files.at(-1) ?? ''), victim });
      const found = await answered('case');
      if (found !== right && found !== 'named') wrong.push(`${path}: ${found.slice(0, 400)}`);
      if (readFileSync(victim, 'utf8') !== 'mine') wrong.push(`${path}: written through a link`);
    }
    expect(wrong, how).toEqual([]);
  });
});
