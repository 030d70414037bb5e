import type { AskedRefusal } from '../nights/index.ts';
import { recordsIn } from '../nights/index.ts';
import type { Answers } from '../nights/index.ts';
import { notReturned } from '../../core/client/lookups.ts';
import { omittedColumns } from '../../exports/records.ts';
import type { ManifestFile } from '../../exports/finished-export.ts';
import { assetsTable } from '../../core/records/columns.ts';
import { unexportedTable } from '../../core/records/beside-tables.ts';
import { type DamagedExport, exportedIds, intactSources } from './rebuild-files.ts';

/**
 * The answers that a damaged part still holds in its intact files: what became of each of its ids. Ids are looked up in their
 * order. Why an id is missing is not known where `unexported` is damaged: then it is taken for one that was not in the answer.
 */
export class SurvivingAnswers implements Answers {
  readonly #damagedExport: DamagedExport;
  #open: SurvivingPart | undefined;

  constructor(damagedExport: DamagedExport) {
    this.#damagedExport = damagedExport;
  }

  /** Whether an intact file of the part holds its whole records. */
  has(part: number): boolean {
    return this.#recordFile(part) !== undefined;
  }

  async find(id: string, part: number): Promise<Buffer | AskedRefusal | undefined> {
    if (this.#open?.part !== part) {
      await this.close();
      this.#open = await this.#read(part);
    }
    return this.#open.find(id);
  }

  async close(): Promise<void> {
    await this.#open?.close();
    this.#open = undefined;
  }

  #recordFile(part: number): ManifestFile | undefined {
    const sources = intactSources(this.#damagedExport, { table: assetsTable.name, part, path: '' });
    const isWhole = omittedColumns(this.#damagedExport.finished).length === 0;
    return sources.find(({ format }) => format === 'raw' || isWhole);
  }

  async #read(part: number): Promise<SurvivingPart> {
    const { finished, damaged } = this.#damagedExport;
    const file = this.#recordFile(part);
    const refused = new Map<string, AskedRefusal>();
    for (const unexported of finished.filesOf(unexportedTable.name)) {
      if (unexported.part !== part || damaged.has(unexported.path)) continue;
      for await (const rows of finished.rows(unexported)) {
        for (const [id, outcome, reason] of rows) {
          if (outcome === 'missing' || outcome === 'failed')
            refused.set(String(id), { kind: outcome, reason: typeof reason === 'string' ? reason : '' });
        }
      }
    }
    const ids = (await exportedIds(this.#damagedExport, part)) ?? [];
    return new SurvivingPart(part, ids, { refused, pieces: file === undefined ? none() : recordsIn(finished, file) });
  }
}

async function* none(): ReturnType<typeof recordsIn> {
  // No records.
}

/** The records of one part, read while its ids are looked up. */
class SurvivingPart {
  readonly part: number;
  readonly #ids: readonly string[];
  readonly #known: ReadonlySet<string>;
  readonly #refused: ReadonlyMap<string, AskedRefusal>;
  readonly #pieces: ReturnType<typeof recordsIn>;
  #piece: { readonly count: number; at(index: number): Buffer } = { count: 0, at: () => Buffer.alloc(0) };
  #pieceStart = 0;
  #next = 0;

  constructor(
    part: number,
    ids: readonly string[],
    { refused, pieces }: { refused: ReadonlyMap<string, AskedRefusal>; pieces: ReturnType<typeof recordsIn> },
  ) {
    this.part = part;
    this.#ids = ids;
    this.#known = new Set(ids);
    this.#refused = refused;
    this.#pieces = pieces;
  }

  async find(id: string): Promise<Buffer | AskedRefusal> {
    if (!this.#known.has(id)) return this.#refused.get(id) ?? { ...notReturned };
    while (this.#ids[this.#next] !== id) {
      this.#next += 1;
      if (this.#next >= this.#ids.length) throw new Error(`${id} was looked up twice, or out of order`);
    }
    while (this.#next >= this.#pieceStart + this.#piece.count) {
      this.#pieceStart += this.#piece.count;
      const { value } = await this.#pieces.next();
      if (value === undefined) throw new Error(`part ${this.part} has fewer records than ids`);
      this.#piece = value;
    }
    return this.#piece.at(this.#next - this.#pieceStart);
  }

  async close(): Promise<void> {
    await this.#pieces.return();
  }
}
