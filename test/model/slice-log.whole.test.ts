import { valueOfCheckedJson } from '../../src/lib/hash/sha256.ts';
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { Heartbeat, watchHolder } from '../../src/places/log/heartbeat.ts';
import { SliceHold } from '../../src/places/log/slice-hold.ts';
import { type LogEntry, SliceLog } from '../../src/places/log/slice-log.ts';
import { SeededRandom } from '../../packages/practice-service/src/generated/seeded-random.ts';
import { noCounts, noNotes, type Commit } from '../../src/places/export/export-facts.ts';
import { MemoryObjects, type StoreWeather } from '../support/memory-objects.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { sampled } from './support/sample.ts';

const parts = 4;
const deadAfterSeconds = 60;

class Killed extends Error {}

/** What meets a maker at one of its operations: the store may have done it, and the answer is lost. */
type Fate = { readonly kind: 'killed' | 'frozen'; readonly when: 'before' | 'after' } | undefined;
type Fates = (operation: number) => Fate;

interface World {
  readonly bucket: MemoryObjects;
  readonly clock: FakeClock;
  readonly random: SeededRandom;
}

/** A process that makes parts until the slice is done. It may be killed or frozen at any operation of the store. */
class Maker {
  readonly #world: World;
  readonly #name: string;
  readonly #fates: Fates;
  #operations = 0;
  #isDead = false;
  #frozenUntilMs = 0;
  #die: (error: Killed) => void = () => undefined;
  readonly #death = new Promise<never>((_resolve, reject) => {
    this.#die = reject;
  });

  constructor(world: World, name: string, fates: Fates) {
    this.#world = world;
    this.#name = name;
    this.#fates = fates;
  }

  get operations(): number {
    return this.#operations;
  }

  /** @throws {Killed} */
  work(): Promise<void> {
    // What a killed process waits for never comes.
    return Promise.race([this.#workAlive(), this.#death]);
  }

  async #workAlive(): Promise<void> {
    const { clock, bucket } = this.#world;
    const store = bucket.open(this.#weather);
    const stop = new AbortController().signal;
    for (;;) {
      const log = new SliceLog(store, 7);
      const { isDone, holder } = await log.refresh();
      if (isDone) return;
      const isOther = holder !== undefined && holder.scratch !== this.#name;
      if (isOther && (await watchHolder({ store, log, clock, deadAfterSeconds, stop })) === 'alive') continue;
      const hold = await SliceHold.claim({ store, log, scratch: this.#name, canReplace: true });
      if (hold !== undefined) await this.#make(hold, store);
    }
  }

  async #make(hold: SliceHold, store: ReturnType<MemoryObjects['open']>): Promise<void> {
    const { clock, random } = this.#world;
    const spent = () => ({ calls: 1, credits: 160 });
    const isHeld = () => hold.isHeld();
    const { nonce } = hold;
    const heart = {
      store,
      clock,
      nonce,
      slice: 7,
      scratch: this.#name,
      deadAfterSeconds,
      spent,
      answered: () => 0,
      isHeld,
      process: { host: 'here', pid: 1 },
    };
    const heartbeat = await Heartbeat.start(heart);
    try {
      for (let part = 0; part < parts; part += 1) {
        if (hold.state.commits.has(part)) continue;
        await clock.sleep(random.below(40) * 1000);
        const isLost = await heartbeat.mayCall().then(
          () => false,
          () => true,
        );
        const { commit, bytes } = this.#part(part);
        if (isLost || (await hold.commit(commit, (path) => ({ bytes: bytes(path) }))) === 'lost') return;
      }
      await hold.end('done', spent(), 0);
    } finally {
      await heartbeat.end();
    }
  }

  /** The service may answer each maker otherwise. */
  #part(part: number) {
    const bytes = (path: string) => Buffer.from(`${path} of ${part % 2 === 0 ? this.#name : 'anybody'}`);
    const files = ['csv', 'jsonl'].map((format) => {
      const path = `${format}/assets/part-0000${part}.${format}`;
      const sha256 = createHash('sha256').update(bytes(path)).digest('hex');
      return { path, format, table: 'assets', part, rows: 1, bytes: bytes(path).length, sha256 };
    });
    const commit: Commit = { part, counts: noCounts, files, drift: [], notes: noNotes, inputBytes: 0 };
    return { commit, bytes };
  }

  readonly #weather: StoreWeather = async (_operation, when) => {
    const { clock } = this.#world;
    if (this.#isDead) throw new Killed();
    if (when === 'before') this.#operations += 1;
    const fate = this.#fates(this.#operations - 1);
    if (fate?.when === when) {
      if (fate.kind === 'frozen') this.#frozenUntilMs = clock.now() + 4 * deadAfterSeconds * 1000;
      else {
        this.#isDead = true;
        this.#die(new Killed());
      }
    }
    if (this.#isDead) throw new Killed();
    if (this.#frozenUntilMs > clock.now()) await clock.sleep(this.#frozenUntilMs - clock.now());
  };
}

/** Runs makers until the slice is done. One that was killed is started again, with its disk or without. */
async function worked(seed: number, makers: readonly Fates[]): Promise<World & { readonly operations: number }> {
  const world = { bucket: new MemoryObjects(), clock: createFakeClock(0), random: new SeededRandom([seed, 5, 5, 5]) };
  let operations = 0;
  const process = async (fates: Fates, number: number): Promise<void> => {
    const losesDisk = world.random.chance(50);
    const maker = new Maker(world, `disk ${number}`, fates);
    await maker.work().catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
      const name = losesDisk ? `new disk ${number}` : `disk ${number}`;
      return new Maker(world, name, () => undefined).work();
    });
    if (number === 0) operations = maker.operations;
  };
  await world.clock.runUntil(Promise.all(makers.map(process)));
  return { ...world, operations };
}

/** Everything that is wrong with what the makers left. */
function problemsOf({ bucket }: World): string[] {
  const problems: string[] = [];
  const names = [...bucket.objects.keys()].filter((name) => name.startsWith('.run/log/')).sort();
  const textOf = (name: string): string => Buffer.from(bucket.objects.get(name)?.bytes ?? []).toString();
  const committed = new Map<number, Commit>();
  let holder = '';
  for (const [index, name] of names.entries()) {
    if (!name.endsWith(`/${String(index).padStart(6, '0')}.json`)) problems.push(`${name} follows a gap`);
    const entry = valueOfCheckedJson(bucket.objects.get(name)?.bytes ?? Buffer.of()) as LogEntry;
    if (entry.kind === 'claim') holder = entry.nonce;
    else if (entry.nonce !== holder) problems.push(`${name} is of a former holder`);
    if (entry.kind !== 'commit') continue;
    if (committed.has(entry.commit.part)) problems.push(`part ${entry.commit.part} is committed twice`);
    committed.set(entry.commit.part, entry.commit);
  }
  if (committed.size !== parts) problems.push(`${committed.size} parts are committed`);
  if (!textOf(names.at(-1) ?? '').includes('"done"')) problems.push('the slice is not done');
  for (const { path, sha256 } of [...committed.values()].flatMap(({ files }) => files))
    if (bucket.objects.get(path)?.sha256 !== sha256) problems.push(`${path} has other bytes than were committed`);
  return problems;
}

const calm: Fates = () => undefined;

it.each([
  ['killed before', { kind: 'killed', when: 'before' }],
  ['killed after', { kind: 'killed', when: 'after' }],
  ['frozen before', { kind: 'frozen', when: 'before' }],
  ['frozen after', { kind: 'frozen', when: 'after' }],
] as const)(
  'five makers of a slice, one of which is %s any of its operations, commit each part once',
  async (_what, fate) => {
    const { operations } = await worked(0, [calm]);
    expect(operations).toBeGreaterThan(20);
    const wrong: string[] = [];
    for (const n of sampled(Array.from({ length: operations }, (_, index) => index))) {
      const struck: Fates = (operation) => (operation === n ? fate : undefined);
      const problems = problemsOf(await worked(n, [struck, calm, calm, calm, calm]));
      if (problems.length > 0) wrong.push(`${n}: ${problems.join('; ')}`);
    }
    expect(wrong.slice(0, 12)).toEqual([]);
  },
  60_000,
);

it('five makers that are killed and frozen again and again commit each part once (100 histories)', async () => {
  const wrong: string[] = [];
  let taken = 0;
  for (let seed = 0; seed < 100; seed += 1) {
    const random = new SeededRandom([seed, 9, 9, 9]);
    const fates: Fates = () => {
      if (!random.chance(12)) return undefined;
      return { kind: random.chance(50) ? 'killed' : 'frozen', when: random.chance(50) ? 'before' : 'after' };
    };
    const world = await worked(seed, [fates, fates, fates, fates, fates]);
    const problems = problemsOf(world);
    if (problems.length > 0) wrong.push(`seed ${seed}: ${problems.join('; ')}`);
    const claims = [...world.bucket.objects].filter(
      ([name, { bytes }]) => name.startsWith('.run/log/') && Buffer.from(bytes).includes('"claim"'),
    );
    if (claims.length > 1) taken += 1;
  }
  expect(wrong.slice(0, 12)).toEqual([]);
  // The histories show what they are for.
  expect(taken).toBeGreaterThan(40);
}, 60_000);
