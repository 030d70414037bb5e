import { join } from 'node:path';
import type { Compression, Format } from '../sinks/sink.ts';

const endings: Readonly<Record<Compression, string>> = { none: '', snappy: '', gzip: '.gz', zstd: '.zst' };

/** Which file of a part: the name of a table file or of the unexported ids. */
export interface PartFileName {
  readonly format: Format;
  readonly table: string;
  readonly part: number;
  /** Ending of the format without a dot. */
  readonly extension: string;
  /** Codec around the whole file; `none` where the format compresses inside. */
  readonly codec: Compression;
}

/** Which file of answers: those of one part that one thread appended. */
export interface JournalName {
  readonly part: number;
  /** 0 for the coordinator; threads have numbers that no other thread had, in no run. */
  readonly thread: number;
}

/** Every path of an export, relative to its folder and with forward slashes, as the manifest names them. */
export const exportPaths = {
  manifest: 'manifest.json',
  run: '.run',
  lock: '.run/lock',
  /** Where the owner of the lock can be asked whether it lives. */
  lockSocket: (nonce: string) => `.run/lock.alive.${nonce}`,
  checkpoint: '.run/checkpoint',
  callCount: '.run/calls',
  creditCount: '.run/credits',
  stdin: '.run/stdin-ids',
  /** What the run that goes on holds in memory. */
  holding: '.run/holding',
  /** Records of an embedded service that memory does not hold. */
  embedded: '.run/embedded',
  journals: '.run/journal',
  unfinished: '.run/unfinished',
  throwingAway: '.run/throwing-away',
  /** Tells that the rest of `.run` is a repair's. */
  repairing: '.run/repairing',
  unexported: (part: number) => `unexported/part-${partNumber(part)}.csv`,
  table: ({ format, table, part, extension, codec }: PartFileName) =>
    `${format}/${table}/part-${partNumber(part)}.${extension}${endings[codec]}`,
  journal: ({ part, thread }: JournalName) =>
    `.run/journal/part-${partNumber(part)}${thread === 0 ? '' : `.${thread}`}.journal`,
} as const;

/** The absolute path of a name in an export. */
export function pathIn(folder: string, name: string): string {
  return join(folder, ...name.split('/'));
}

/** The format's ending in the name of a part's file: `csv` in `part-00000.csv.gz`; undefined when it is the name of none. */
export function partExtension(fileName: string): string | undefined {
  return /^part-\d{5,}\.([a-z]+)(\.gz|\.zst)?$/.exec(fileName)?.[1];
}

/** What a journal file's name says, or undefined when it is no journal. */
export function journalName(fileName: string): JournalName | undefined {
  const [, part, thread = '0'] = /^part-(\d{5,})(?:\.([1-9]\d*))?\.journal$/.exec(fileName) ?? [];
  return part === undefined ? undefined : { part: Number(part), thread: Number(thread) };
}

function partNumber(part: number): string {
  return String(part).padStart(5, '0');
}
