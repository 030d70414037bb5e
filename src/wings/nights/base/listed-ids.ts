import { wordsPerHash } from '../../../lib/hash/hash-128.ts';
import { HashSet128 } from '../../../lib/hash/hash-set-128.ts';
import { type BaseKeys, marks } from './base-keys.ts';

/** Finds repeated ids while they are read: those of the base in its own table, all others in a set. */
export class ListedIds {
  readonly #keys: BaseKeys;
  readonly #others = new HashSet128();

  /** Begins anew: no id of the base is listed yet. */
  constructor(keys: BaseKeys) {
    this.#keys = keys;
    keys.clear(marks.listed);
  }

  /** Ids that the base does not know. */
  get newIds(): number {
    return this.#others.size;
  }

  /** For each hash 1 when it comes for the first time, else 0. */
  addAll(hashes: Uint32Array): Uint8Array {
    const isNew = new Uint8Array(hashes.length / wordsPerHash);
    this.#keys.table.readAhead(hashes);
    for (let index = 0; index < isNew.length; index += 1) {
      const at = index * wordsPerHash;
      const slot = this.#keys.table.find(hashes, at);
      if (slot < 0) isNew[index] = this.#others.addAll(hashes.subarray(at, at + wordsPerHash))[0] ?? 0;
      else if (!this.#keys.has(slot, marks.listed)) {
        isNew[index] = 1;
        this.#keys.mark(slot, marks.listed);
      }
    }
    return isNew;
  }
}
