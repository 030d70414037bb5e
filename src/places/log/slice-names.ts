import { exportPaths } from '../export/export-folder.ts';

/** Names of the files that say how far the slices of an export are. They are removed once it is complete. */
export const sliceNames = {
  start: exportPaths.start,
  logs: '.run/log/',
  slices: '.run/slices/',
  /** The entries of a slice: the table `ids`. */
  ids: (slice: number) => `.run/slices/${padded(slice, 5)}.csv.gz`,
  throwingAway: '.run/throwing-away',
  log: (slice: number) => `.run/log/${padded(slice, 5)}/`,
  logEntry: (slice: number, number: number) => `.run/log/${padded(slice, 5)}/${padded(number, 6)}.json`,
  /** Heartbeat of a holder. */
  alive: (nonce: string) => `.run/alive/${nonce}.json`,
  /** The holder that a heartbeat is of; undefined for the name of any other object. */
  nonceOf: (name: string) => /^\.run\/alive\/(.+)\.json$/.exec(name)?.[1],
  /** Answers that a holder left when it was told to stop. */
  answers: (slice: number, nonce = '') => `.run/answers/${padded(slice, 5)}/${nonce === '' ? '' : `${nonce}/`}`,
  records: '.run/runs/',
  /** What the runs of a process did. */
  record: (id: string) => `.run/runs/${id}.jsonl`,
  /** The folder of a slice in the scratch folder of a process. */
  scratch: (slice: number) => padded(slice, 5),
} as const;

/** The number in the name of an entry in the folder of a log; undefined for any other name. */
export function numberOfLogEntry(name: string): number | undefined {
  const [, number] = /^(\d{6,})\.json$/.exec(name) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** The slice whose log lies in a folder of `sliceNames.logs`, named with its slash; none for any other name. */
export function sliceOfLogFolder(name: string): number[] {
  const [, slice] = /^(\d{5,})\/$/.exec(name) ?? [];
  return slice === undefined ? [] : [Number(slice)];
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}
