import { count, duration, plural } from './format-text.ts';
import { cut, progressLines } from './progress-lines.ts';
import { entriesDone, entriesTotal, type ProgressState } from './progress-state.ts';

export interface ProgressView {
  readonly state: ProgressState;
  /** Ids a second, over the last seconds. */
  readonly idsPerSecond: number;
  readonly nowMs: number;
  readonly creditsPerCall: number;
  /** Credits that the tightest limit still leaves; undefined without a limit. */
  readonly creditsLeft: number | undefined;
  readonly idsPerCall: number;
}

/** The block that a terminal shows: a bar and two lines, more on a narrow one; none is wider than `columns`. */
export function progressBlock(view: ProgressView, columns: number): string {
  const { state, idsPerSecond } = view;
  const done = entriesDone(state);
  const total = entriesTotal(state);
  const facts = [
    total === undefined
      ? 'reading ids'
      : `${count(done)} of ${state.inputBytes >= state.inputBytesTotal ? '' : '~'}${count(total)} ids`,
    `${count(idsPerSecond)} ids/s`,
    etaText(view),
  ];
  const used = state.callsSent * view.creditsPerCall;
  const money = [
    plural(state.callsSent, 'call'),
    `${count(used)} credits used`,
    ...(view.creditsLeft === undefined ? [] : [`${count(view.creditsLeft)} left`]),
    plural(state.partsCommitted, 'part'),
    ...(state.retries === 0 ? [] : [state.retries === 1 ? '1 retry' : `${count(state.retries)} retries`]),
  ];
  const lines = progressLines(total === undefined ? 0 : done / total, [facts, money], columns);
  const { waiting } = state;
  if (waiting !== undefined && waiting.untilMs > view.nowMs) {
    lines.push(`waiting ${duration(waiting.untilMs - view.nowMs)}: ${waiting.reason}`);
  }
  return lines.map((line) => cut(line, columns)).join('\n');
}

/** When the run will end, or when its credits will. */
export function etaText({ state, idsPerSecond, creditsLeft, creditsPerCall, idsPerCall }: ProgressView): string {
  const total = entriesTotal(state);
  if (total === undefined || idsPerSecond <= 0) return 'ETA –';
  const left = Math.max(0, total - entriesDone(state));
  const callsLeft = Math.ceil(left / idsPerCall);
  if (creditsLeft !== undefined && creditsPerCall > 0 && callsLeft * creditsPerCall > creditsLeft) {
    const affordable = Math.floor(creditsLeft / creditsPerCall) * idsPerCall;
    return `budget ends in ${duration((affordable / idsPerSecond) * 1000)}`;
  }
  return `ETA ${duration((left / idsPerSecond) * 1000)}`;
}
