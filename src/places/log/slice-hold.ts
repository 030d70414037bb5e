import { randomUUID } from 'node:crypto';
import { ExportError } from '../../lib/export-error.ts';
import {
  type NamedBody,
  type ObjectBody,
  type ObjectStore,
  sha256OfBody,
  sizeOfBody,
} from '../objects/object-store.ts';
import type { Commit, Spent } from '../export/export-facts.ts';
import { commitsOf, type LogEntry, type LogState, type SliceLog, type Spending, withSpent } from './slice-log.ts';

export interface Claim {
  readonly store: ObjectStore;
  readonly log: SliceLog;
  /** Id of the local folder in which this process works. */
  readonly scratch: string;
  /** Whether the store can replace an object; `probeStore` knows. */
  readonly canReplace: boolean;
  /** Parts whose commits are withdrawn: their files are damaged. */
  readonly damaged?: ReadonlyMap<number, string> | undefined;
  /** What a dead holder said last of its spending: the least that it spent. */
  readonly lastOf?: ((nonce: string) => Promise<(Spent & { readonly scratch: string }) | undefined>) | undefined;
}

/** So many commits follow a claim before they are repeated. */
const mostUnrepeated = 256;

/** A slice that this process holds until another one claims it. */
export class SliceHold {
  readonly nonce: string;
  readonly #claim: Claim;

  /** Claims a slice; undefined when another process was first. The caller has seen that no living process holds it. */
  static async claim(claim: Claim): Promise<SliceHold | undefined> {
    const { log, scratch } = claim;
    const nonce = randomUUID();
    const spent = await spentBefore(claim);
    const commits = commitsOf([log]).filter(({ part }) => claim.damaged?.has(part) !== true);
    if ((await log.append({ kind: 'claim', nonce, scratch, spent, commits })) === 'taken') return undefined;
    return new SliceHold(claim, nonce);
  }

  private constructor(claim: Claim, nonce: string) {
    this.#claim = claim;
    this.nonce = nonce;
  }

  get state(): LogState {
    return this.#claim.log.state;
  }

  /**
   * Puts the files of a part, then commits it. `lost`: another process holds the slice now, and nothing was committed.
   * @param bodyOf the content of a file, by its path in the export
   */
  async commit(commit: Commit, bodyOf: (path: string) => ObjectBody): Promise<'committed' | 'lost'> {
    const bodies = commit.files.map(({ path }): NamedBody => ({ name: path, body: bodyOf(path) }));
    const taken = new Set(await this.#claim.store.putAll(bodies));
    for (const each of bodies) {
      if (taken.has(each.name) && (await this.#putTaken(each)) === 'lost') return 'lost';
    }
    if (!(await this.#append({ kind: 'commit', nonce: this.nonce, commit }))) return 'lost';
    return (await this.#claimAnew()) ? 'committed' : 'lost';
  }

  /** Keeps the log short for those who read it: at most an eighth of its commits follow the last claim. */
  async #claimAnew(): Promise<boolean> {
    const { log, scratch } = this.#claim;
    const { next, sinceClaim, spent, commits } = log.state;
    if (next - sinceClaim < Math.max(mostUnrepeated, commits.size / 8)) return true;
    return this.#append({ kind: 'claim', nonce: this.nonce, scratch, spent, commits: commitsOf([log]) });
  }

  /** @param spent all that was counted in this scratch folder @param answered ids of the slice whose answers came */
  async end(how: 'done' | 'release', spent: Spent, answered: number): Promise<'ended' | 'lost'> {
    const { scratch } = this.#claim;
    const all = withSpent(this.state.spent, scratch, spent);
    const commits = commitsOf([this.#claim.log]);
    const { nonce } = this;
    const isPut = await this.#append(
      how === 'done' ? { kind: 'done', nonce, commits, spent: all } : { kind: 'release', nonce, spent: all, answered },
    );
    return isPut ? 'ended' : 'lost';
  }

  async isHeld(): Promise<boolean> {
    const { holder } = await this.#claim.log.refresh();
    return holder?.nonce === this.nonce;
  }

  /** A claim of another process may have been read already: nothing may follow it. */
  async #append(entry: LogEntry): Promise<boolean> {
    const { log } = this.#claim;
    return log.state.holder?.nonce === this.nonce && (await log.append(entry)) === 'put';
  }

  /** What is there under the name may be of this process (a lost answer), of a former holder, or of one that took over. */
  async #putTaken({ name, body }: NamedBody): Promise<'put' | 'lost'> {
    const { store, canReplace } = this.#claim;
    for (;;) {
      const found = await store.look(name);
      if (found !== undefined) {
        if (found.sha256 === sha256OfBody(body) && found.bytes === sizeOfBody(body)) return 'put';
        if (!(await this.isHeld())) return 'lost';
        if (!canReplace) throw cannotReplace(name);
        if ((await store.replace(name, body, found.tag)) === 'put') return 'put';
      } else if ((await store.putNew(name, body)) === 'put') return 'put';
    }
  }
}

/** What is known of the spending of former holders. */
async function spentBefore({ log, lastOf }: Claim): Promise<Spending> {
  const { holder, spent } = log.state;
  const beat = holder === undefined ? undefined : await lastOf?.(holder.nonce);
  return beat === undefined ? spent : withSpent(spent, beat.scratch, beat);
}

function cannotReplace(path: string): ExportError {
  return new ExportError(
    'damaged',
    `${path} exists with other bytes, and this store does not support conditional replacement (If-Match)`,
    { todo: `Delete ${path}, then run the same command again.` },
  );
}

/** The error of a process that was too slow to keep its slice. */
export function lostSlice(): ExportError {
  return new ExportError('locked', 'another process took over this export while this one did not respond', {
    why: { kind: 'lostSlice' },
    todo: 'Wait for that process to end (asset-export status shows its progress), then run the same command again.',
  });
}

export function isLostSlice(error: unknown): boolean {
  return error instanceof ExportError && error.why?.kind === 'lostSlice';
}
