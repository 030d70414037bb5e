import { FinishedExport, type ManifestFile } from '../../exports/finished-export.ts';
import type { Row } from '../../core/records/table.ts';

/** Ids that are no row for the same reason. */
export interface UnexportedGroup {
  readonly fate: string;
  /** Numbers that differ within the group read N. */
  readonly reason: string;
  readonly ids: number;
  readonly examples: readonly UnexportedExample[];
}

export interface UnexportedExample {
  readonly id: string;
  readonly source: string;
  readonly line: number;
}

export interface UnexportedData {
  /** The largest first. */
  readonly groups: readonly UnexportedGroup[];
  /** Groups that are not listed, and their ids. */
  readonly more: { readonly groups: number; readonly ids: number };
  readonly parts: { readonly read: number; readonly all: number };
}

const mostGroups = 40;
const mostExamples = 2;
/** Longest text of an example: an invalid id may be a whole file on one line. */
const mostText = 160;
/** Reasons are the service's words: their number has no bound of its own. */
const mostReasons = 20_000;
const otherReasons = '…';

interface OpenGroup {
  readonly fate: string;
  readonly words: readonly string[];
  /** The number at each place, undefined where it differs. */
  readonly numbers: (string | undefined)[];
  readonly examples: UnexportedExample[];
  ids: number;
}

/** Groups the ids that are no row by fate and reason. */
export async function readUnexported(view: FinishedExport, isRead: (part: number) => boolean): Promise<UnexportedData> {
  const all = view.filesOf('unexported');
  const files = all.filter(({ part }) => isRead(part));
  const groups = new Map<string, OpenGroup>();
  for (const file of files.filter(({ rows }) => rows > 0)) await addFile(groups, view, file);
  const sorted = [...groups.values()].map(closed).sort(byIds);
  const rest = sorted.slice(mostGroups);
  return {
    groups: sorted.slice(0, mostGroups),
    more: { groups: rest.length, ids: rest.reduce((total, { ids }) => total + ids, 0) },
    parts: { read: files.length, all: all.length },
  };
}

async function addFile(groups: Map<string, OpenGroup>, view: FinishedExport, file: ManifestFile): Promise<void> {
  for await (const rows of view.rows(file)) for (const row of rows) addRow(groups, row);
}

function addRow(groups: Map<string, OpenGroup>, [id, outcome, why, source, line]: Row): void {
  const fate = String(outcome);
  const parts = String(why ?? '').split(/(\d+)/);
  const whole = `${fate}\0${parts.map((part, index) => (index % 2 === 1 ? '\0' : part)).join('')}`;
  const key = groups.has(whole) || groups.size < mostReasons ? whole : `${fate}\0${otherReasons}`;
  const words = key === whole ? parts.filter((_, index) => index % 2 === 0) : [otherReasons];
  const numbers = key === whole ? parts.filter((_, index) => index % 2 === 1) : [];
  const group = groups.get(key) ?? { fate, words, numbers, examples: [], ids: 0 };
  groups.set(key, group);
  group.ids += 1;
  for (const [place, number] of numbers.entries()) {
    if (group.numbers[place] !== number) group.numbers[place] = undefined;
  }
  if (group.examples.length < mostExamples) {
    group.examples.push({ id: String(id).slice(0, mostText), source: String(source), line: Number(line) });
  }
}

function closed({ fate, words, numbers, examples, ids }: OpenGroup): UnexportedGroup {
  const reason = words.map((word, index) => (index === 0 ? word : `${numbers[index - 1] ?? 'N'}${word}`)).join('');
  return { fate, reason, ids, examples };
}

function byIds(a: UnexportedGroup, b: UnexportedGroup): number {
  return b.ids - a.ids || (`${a.fate} ${a.reason}` < `${b.fate} ${b.reason}` ? -1 : 1);
}
