import { crc32 } from 'node:zlib';
import { z } from 'zod';
import type { ExportError } from '../../lib/export-error.ts';
import { checkedJson, valueOfCheckedJson } from '../../lib/hash/sha256.ts';
import { pathIn } from '../../places/export/export-folder.ts';
import { type Disk, type Reads, writeWhole, type OpenFile } from '../../places/files/disk.ts';
import type { CheckedPage } from './check-page.ts';
import {
  changedBetween,
  damagedList,
  type ListStart,
  listStartBytes,
  readListStart,
  requireSameList,
  startPath,
} from './list-start.ts';
import type { PageRequest } from './walk/walk.ts';

/** What lies in the folder of an unfinished list, besides its start, its lock and its counters. */
const listFiles = { pages: 'pages.log', records: 'records' } as const;

/** All that a journal keeps in its folder. Its start goes last: pages without it would be taken for those of any list. */
export function journalPaths(folder: string): string[] {
  return [...Object.values(listFiles).map((name) => pathIn(folder, name)), startPath(folder)];
}

const key = z.string().regex(/^[0-9a-f]{64}$/);

const pageSchema = z.object({
  kind: z.literal('page'),
  after: key.optional(),
  before: key.optional(),
  cursor: z.string().optional(),
  number: z.number().optional(),
  limit: z.number().optional(),
  startsAtId: z.boolean(),
  withTotal: z.boolean(),
  direction: z.enum(['rising', 'falling']).optional(),
  /** 32 bytes a member, rising. */
  keys: z.base64(),
  total: z.number().optional(),
  next: z.string().optional(),
  last: key.optional(),
  /** By the place of the member: why it has no record. */
  errors: z.array(z.object({ at: z.number(), notFound: z.boolean(), message: z.string() })),
  /** Where its records begin, the length of each (0 for a member without one), and the checksum of all. */
  records: z.object({ at: z.number(), lengths: z.array(z.number()), crc32: z.number() }).optional(),
  atMs: z.number(),
});

const entrySchema = z.discriminatedUnion('kind', [
  pageSchema,
  z.object({ kind: z.literal('total'), total: z.number(), atMs: z.number() }),
]);

/** A page that was answered, by this process or an earlier one. */
export interface KeptPage {
  readonly request: PageRequest;
  readonly page: Omit<CheckedPage, 'members'>;
  readonly errors: z.infer<typeof pageSchema>['errors'];
  readonly records: { readonly at: number; readonly lengths: Uint32Array; readonly crc32: number } | undefined;
}

export interface KeptEntries {
  readonly startedAtMs: number;
  /** Members a page, when the list was begun. */
  readonly limit: number;
  /** Undefined where nothing was answered. */
  readonly lastMs: number | undefined;
  readonly entries: readonly (KeptPage | { readonly total: number })[];
}

/** Answered pages of an unfinished list. An entry that is cut ends the file; what is damaged before it is never guessed at. */
export class PageJournal {
  readonly #files: Disk;
  readonly #folder: string;
  readonly #pages: OpenFile;
  readonly #records: OpenFile | undefined;
  #end = 0;
  #recordsEnd = 0;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(files: Disk, folder: string, open: { pages: OpenFile; records: OpenFile | undefined }) {
    this.#files = files;
    this.#folder = folder;
    this.#pages = open.pages;
    this.#records = open.records;
  }

  /**
   * Begins a list, or takes up what an earlier process left of it.
   * @throws {ExportError} `usage` when that is another list, `damaged`
   */
  static async open(
    files: Disk,
    folder: string,
    begin: ListStart,
  ): Promise<{ readonly journal: PageJournal; readonly kept: KeptEntries }> {
    const before = await readListStart(files, folder);
    if (before === undefined)
      await writeWhole(files, { path: startPath(folder) }, (file) => file.write(listStartBytes(begin)));
    else requireSameList(folder, before.settings, begin.settings);
    const { startedAtMs, settings } = before ?? begin;
    const pages = await files.open(pathIn(folder, listFiles.pages), 'update');
    const records = begin.settings.records ? await files.open(pathIn(folder, listFiles.records), 'update') : undefined;
    const journal = new PageJournal(files, folder, { pages, records });
    try {
      await files.syncFolder(folder);
      return { journal, kept: { ...(await journal.#takeUp()), startedAtMs, limit: settings.limit } };
    } catch (error) {
      await journal.close().catch(() => undefined);
      throw error;
    }
  }

  /** Resolves when the page survives a loss of power. */
  keepPage(request: PageRequest, page: CheckedPage, atMs: number): Promise<KeptPage> {
    return this.#inTurn(async () => {
      const records = await this.#keepRecords(page);
      const errors = page.members.flatMap(({ error }, at) =>
        error === undefined ? [] : [{ at, notFound: error.notFound, message: error.message }],
      );
      const { after, before, cursor, number, limit, startsAtId, withTotal } = request;
      await this.#append({
        kind: 'page',
        ...(after === undefined ? {} : { after: hexOf(after) }),
        ...(before === undefined ? {} : { before: hexOf(before) }),
        cursor,
        number,
        limit,
        startsAtId,
        withTotal,
        direction: page.direction,
        keys: Buffer.from(page.keys).toString('base64'),
        total: page.total,
        next: page.cursor,
        ...(page.last === undefined ? {} : { last: hexOf(page.last) }),
        errors,
        ...(records === undefined ? {} : { records: { ...records, lengths: [...records.lengths] } }),
        atMs,
      });
      // Without its members: their records would keep the whole answer in memory.
      const { members: _, ...rest } = page;
      return { request, page: rest, errors, records };
    });
  }

  keepTotal(total: number, atMs: number): Promise<void> {
    return this.#inTurn(() => this.#append({ kind: 'total', total, atMs }));
  }

  /** All records of a page, one behind the other. @throws {ExportError} `damaged` */
  async recordsOf({ records }: KeptPage): Promise<Uint8Array> {
    if (records === undefined || this.#records === undefined) return new Uint8Array();
    const bytes = await this.#records.read(
      records.at,
      records.lengths.reduce((sum, length) => sum + length, 0),
    );
    if (crc32(bytes) !== records.crc32) throw this.#damaged(listFiles.records, 'it is not as it was written');
    return bytes;
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => undefined);
    await this.#pages.close();
    await this.#records?.close();
  }

  async #keepRecords({ members }: CheckedPage): Promise<KeptPage['records']> {
    if (this.#records === undefined) return undefined;
    const bytes = Buffer.concat(members.flatMap(({ record }) => record ?? []));
    const at = this.#recordsEnd;
    await this.#records.write(bytes, at);
    await this.#records.sync();
    this.#recordsEnd += bytes.length;
    return { at, lengths: Uint32Array.from(members, ({ record }) => record?.length ?? 0), crc32: crc32(bytes) };
  }

  async #append(entry: z.input<typeof entrySchema>): Promise<void> {
    const line = Buffer.concat([checkedJson(entry), Buffer.from('\n')]);
    await this.#pages.write(line, this.#end);
    await this.#pages.sync();
    this.#end += line.length;
  }

  /** One behind the other: a crash can only cut the last entry. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn;
    return turn;
  }

  async #takeUp(): Promise<Pick<KeptEntries, 'entries' | 'lastMs'>> {
    const { entries, lastMs, end, isDamaged } = entriesIn(await readPages(this.#files, this.#folder));
    if (isDamaged) throw this.#damaged(listFiles.pages, `entry ${entries.length + 1} is not as it was written`);
    this.#end = end;
    await this.#pages.truncate(end);
    await this.#requireRecords(entries);
    return { lastMs, entries };
  }

  /** Records lie on the disk before the entry that names them, in the order of the entries. */
  async #requireRecords(entries: KeptEntries['entries']): Promise<void> {
    if (this.#records === undefined) return;
    for (const entry of entries) {
      if (!('records' in entry) || entry.records === undefined) continue;
      if (entry.records.at !== this.#recordsEnd) throw this.#damaged(listFiles.pages, 'its entries are not in order');
      this.#recordsEnd += (await this.recordsOf(entry)).length;
    }
    await this.#records.truncate(this.#recordsEnd);
  }

  #damaged(name: string, why: string): ExportError {
    return damagedList(pathIn(this.#folder, name), why);
  }
}

/** The answered pages of an unfinished list, also while a process works on it. */
export async function readKept(files: Reads, folder: string): Promise<Pick<KeptEntries, 'entries'>> {
  return entriesIn(await readPages(files, folder));
}

/**
 * Whether what an earlier process left is of no use: it is of another list, and no member of that is kept. So an address that was
 * mistyped, or a dialect that the service does not speak, costs nobody `--fresh`.
 * @throws {ExportError} `damaged`
 */
export async function isOfNoUse(files: Reads, folder: string, settings: ListStart['settings']): Promise<boolean> {
  const before = await readListStart(files, folder);
  if (before === undefined || changedBetween(before.settings, settings) === undefined) return false;
  const { entries } = await readKept(files, folder);
  return entries.every((entry) => 'total' in entry || entry.page.keys.length === 0);
}

async function readPages(files: Reads, folder: string): Promise<Buffer> {
  return Buffer.from((await files.readAll(pathIn(folder, listFiles.pages))) ?? []);
}

/** The entries of a journal, where the last whole one ends, and whether something follows that no crash can have cut. */
function entriesIn(
  text: Buffer,
): Pick<KeptEntries, 'entries' | 'lastMs'> & { readonly end: number; readonly isDamaged: boolean } {
  const entries: (KeptPage | { readonly total: number })[] = [];
  let lastMs: number | undefined;
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    const parsed = entrySchema.safeParse(valueOfCheckedJson(text.subarray(start, end)));
    if (!parsed.success) return { entries, lastMs, end: start, isDamaged: end + 1 < text.length };
    entries.push(parsed.data.kind === 'total' ? { total: parsed.data.total } : keptPage(parsed.data));
    lastMs = parsed.data.atMs;
    start = end + 1;
  }
  return { entries, lastMs, end: start, isDamaged: false };
}

function keptPage(entry: z.infer<typeof pageSchema>): KeptPage {
  const { after, before, cursor, number, limit, startsAtId, withTotal, direction, total, next, errors, records } =
    entry;
  return {
    request: {
      kind: 'page',
      after: after === undefined ? undefined : BigInt(`0x${after}`),
      before: before === undefined ? undefined : BigInt(`0x${before}`),
      cursor,
      number,
      limit,
      startsAtId,
      withTotal,
    },
    page: {
      keys: new Uint8Array(Buffer.from(entry.keys, 'base64')),
      direction,
      inErrors: errors.length,
      total,
      cursor: next,
      last: entry.last === undefined ? undefined : BigInt(`0x${entry.last}`),
    },
    errors,
    records: records === undefined ? undefined : { ...records, lengths: Uint32Array.from(records.lengths) },
  };
}

function hexOf(place: bigint): string {
  return place.toString(16).padStart(64, '0');
}
