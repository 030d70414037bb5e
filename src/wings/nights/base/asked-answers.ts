import type { FinishedExport } from '../../../exports/finished-export.ts';
import { requireIntact } from './read-base-keys.ts';
import { recordFiles } from '../../../exports/records.ts';
import { CheckedId } from '../../../lib/ids/asset-id.ts';
import { wordsPerHash } from '../../../lib/hash/hash-set-128.ts';
import { unexportedTable } from '../../../core/records/id-tables.ts';
import { pathIn } from '../../../places/export/export-folder.ts';
import type { ReadableFile } from '../../../places/files/disk.ts';
import { PackedBlocks, packedBlockBytes } from '../../../places/export/codec.ts';
import { linesOf } from './record-pieces.ts';
import { KeyTable } from '../../../lib/hash/key-table.ts';
import { type BlockFile, PieceReader } from './line-file.ts';

/** Why an id that was requested has no record. */
export interface AskedRefusal {
  readonly kind: 'missing' | 'failed';
  readonly reason: string;
}

/** The records that were requested for an export with a base, by their id: where each lies in the files that keep them. */
export class AskedAnswers {
  readonly #id = new CheckedId();
  readonly #hash = new Uint32Array(wordsPerHash);
  readonly #table: KeyTable;
  readonly #from: Float64Array;
  readonly #length: Uint32Array;
  readonly #files: { readonly open: ReadableFile; readonly blocks: BlockFile }[] = [];
  readonly #blocks = new PieceReader();
  readonly #refused = new Map<string, AskedRefusal>();

  private constructor(records: number) {
    this.#table = new KeyTable(records);
    this.#from = new Float64Array(this.#table.slots);
    this.#length = new Uint32Array(this.#table.slots);
  }

  /** @param asked the export of these ids, as raw; absent where none were requested */
  static async open(asked: FinishedExport | undefined): Promise<AskedAnswers> {
    const answers = new AskedAnswers(asked?.manifest.counts.exported ?? 0);
    if (asked === undefined) return answers;
    try {
      await answers.#read(asked);
      return answers;
    } catch (error) {
      await answers.close();
      throw error;
    }
  }

  /** The record of an id, why it has none, or undefined for an id that was not requested. */
  async find(id: string): Promise<Buffer | AskedRefusal | undefined> {
    const slot = this.#hashOf(id) ? this.#table.find(this.#hash, 0) : -1;
    if (slot < 0) return this.#refused.get(id);
    const file = this.#files[this.#table.value(slot)];
    if (file === undefined) return undefined;
    return this.#blocks.read(file.blocks, this.#from[slot] ?? 0, this.#length[slot] ?? 0);
  }

  async close(): Promise<void> {
    for (const { open } of this.#files.splice(0)) await open.close();
  }

  async #read(asked: FinishedExport): Promise<void> {
    for (const file of recordFiles(asked)) {
      const open = await asked.files.open(pathIn(asked.folder, file.path));
      const packed = new PackedBlocks(open);
      const block = (index: number): Promise<Uint8Array> => packed.block(index);
      this.#files.push({ open, blocks: { name: file.path, blockBytes: packedBlockBytes, block } });
      let from = 0;
      // They have to be read first.
      for await (const lines of linesOf(packed.all())) {
        for (const line of lines) {
          this.#add(line, from);
          from += line.length + 1;
        }
      }
    }
    for (const file of asked.filesOf(unexportedTable.name)) {
      await requireIntact(asked, file);
      for await (const rows of asked.rows(file)) {
        for (const [id, outcome, reason] of rows) {
          if (outcome !== 'missing' && outcome !== 'failed') continue;
          this.#refused.set(String(id), { kind: outcome, reason: typeof reason === 'string' ? reason : '' });
        }
      }
    }
  }

  #add(line: Buffer, from: number): void {
    // No digit of a record matters here, so the engine's own parser is enough: twice as fast.
    const record: unknown = JSON.parse(line.toString('utf8'));
    const id = typeof record === 'object' && record !== null && 'id' in record ? record.id : undefined;
    if (typeof id !== 'string' || !this.#hashOf(id)) return;
    const slot = this.#table.add(this.#hash, 0);
    this.#table.setValue(slot, this.#files.length - 1);
    this.#from[slot] = from;
    this.#length[slot] = line.length;
  }

  #hashOf(id: string): boolean {
    const isId = this.#id.readText(id);
    if (isId) this.#id.hashTo(this.#hash, 0);
    return isId;
  }
}
