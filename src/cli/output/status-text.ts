import { ExportError } from '../../lib/export-error.ts';
import { shellWord } from '../../lib/addresses/shown-text.ts';
import type { ExportStatus } from '../../wings/status/index.ts';
import { limitText } from '../../places/export/export-facts.ts';
import { count, duration, plural, printable, share, cutLine } from '../../lib/format-text.ts';
import { identityLines } from './summary-text.ts';

/** A glob may stand for thousands. */
const shownInputs = 8;

/** Where one export stands, for a person. */
export function statusText(status: ExportStatus, shown: string): string {
  const [first = '', ...others] = status.inputs.map(printable);
  const lines = [
    `${shown} is ${stateText(status)}${ownerText(status)}`,
    '',
    ...(status.startedAt === null ? [] : [`  started  ${status.startedAt}`]),
    `  inputs   ${first}`,
    ...others.slice(0, shownInputs - 1).map((name) => `           ${name}`),
    ...(others.length < shownInputs ? [] : [`           and ${count(others.length - shownInputs + 1)} more`]),
    ...(status.limit === null ? [] : [`  limit    ${limitText(status.limit)}`]),
    `  written  ${share(status.inputShare, 1)} of the inputs in ${plural(status.parts, 'part')}`,
    ...(status.fetched === 0 ? [] : [`  fetched  ${plural(status.fetched, 'id')}, not yet written`]),
    ...((status.unlisted ?? 0) === 0
      ? []
      : [`  unlisted ${plural(status.unlisted ?? 0, 'id')} of the base, not listed now`]),
    ...fleetLines(status),
    ...serviceLines(status),
    ...speedLines(status),
    `  spent    ${plural(status.calls, 'call')}, ${plural(status.credits, 'credit')}`,
    ...creditLines(status),
    ...(status.lastError === null ? [] : [`  error    ${printable(status.lastError)}`]),
    '',
    ...identityLines({ ...status.counts, read: status.counts.read + status.pending }, { ...status, fetched: 0 }),
    ...(status.state === 'stopped' ? ['', nextStep(status)] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function nextStep({ fleet }: ExportStatus): string {
  return fleet === null ? 'Next: run the same command again to resume.' : 'Next: asset-export work with the same job';
}

/** Where each of several exports stands: a line an export. */
export function statusTable(
  exports: readonly {
    readonly shown: string;
    readonly status: ExportStatus | ExportError;
  }[],
): string {
  const rows = exports.map(({ shown, status }) => [shellWord(shown), ...cellsOf(status)]);
  const head = ['export', 'state', 'written', 'exported', 'fetched', 'credits', 'error'];
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const isNumber = (column: number): boolean => column >= 2 && column <= 5;
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return `${all.map(line).join('\n')}\n`;
}

function cellsOf(status: ExportStatus | ExportError): string[] {
  if (status instanceof ExportError) return [status.exit, '', '', '', '', shortError(status.message)];
  return [
    `${stateText(status)}${status.limit === null ? '' : `, ${limitText(status.limit)}`}${troubleText(status)}`,
    share(status.inputShare, 1),
    count(status.rows),
    status.fetched === 0 ? '' : count(status.fetched),
    count(status.credits),
    status.lastError === null ? '' : shortError(status.lastError),
  ];
}

/** An error among others: the export's own status has all of it. */
function shortError(text: string): string {
  return cutLine(printable(text), 60);
}

/** `complete`, `complete (exit 3)`, `running`, `waiting until …`, `stopped (exit N)`, `stopped (killed)` */
export function stateText({
  state,
  waitingUntil,
  exit,
  rate,
}: Pick<ExportStatus, 'state' | 'waitingUntil' | 'exit' | 'rate'>): string {
  if (state === 'waiting' && waitingUntil !== null) return `waiting until ${timeText(waitingUntil)}`;
  if (state === 'complete' && exit !== null && exit !== 0) return `complete (exit ${exit})`;
  if (state !== 'stopped') return state;
  if (exit !== null) return `stopped (exit ${exit})`;
  // Without a record it is not known how the run ended.
  return rate === null ? 'stopped' : 'stopped (killed)';
}

/** Of a live export: what it believes of the service, where that does not simply work. */
function troubleText({ service }: ExportStatus): string {
  return service === undefined || service === 'working' ? '' : ` (${service})`;
}

export function ownerText({ owner, fleet }: ExportStatus): string {
  if (fleet !== null) return fleet.held === 0 ? '' : `: ${plural(fleet.held, 'worker')}`;
  return owner === null ? '' : `: process ${owner.pid} on ${printable(owner.host)}`;
}

/** So many workers are shown. */
const shownWorkers = 16;

function fleetLines({ fleet }: ExportStatus): string[] {
  if (fleet === null) return [];
  const { slices, done, held, free, workers } = fleet;
  const more = workers.length - shownWorkers;
  return [
    `  slices   ${count(done)} of ${count(slices)} done, ${count(held)} held, ${count(free)} free`,
    ...workers.slice(0, shownWorkers).map(({ host, pid, slice, calls, heardSecondsAgo }) => {
      const heard = `last heartbeat ${duration(heardSecondsAgo * 1000)} ago`;
      return `  worker   process ${pid} on ${printable(host)}: slice ${slice}, ${plural(calls, 'call')}, ${heard}`;
    }),
    ...(more > 0 ? [`           and ${count(more)} more`] : []),
  ];
}

/** `2026-11-24 00:00 UTC` */
function timeText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

function serviceLines({ service, serviceMessage }: ExportStatus): string[] {
  return service === undefined ? [] : [`  service  ${printable(serviceMessage ?? service)}`];
}

function speedLines({ state, rate, etaMs }: ExportStatus): string[] {
  if (rate === null || (state !== 'running' && state !== 'waiting')) return [];
  const left = etaMs === null ? '' : `, about ${duration(etaMs)} left`;
  return [`  speed    ${count(rate)} ids/s${left}`];
}

function creditLines({ creditsToday, creditsLeft }: ExportStatus): string[] {
  if (creditsToday === null) return [];
  const left = creditsLeft === null ? '' : `, ${count(creditsLeft)} left`;
  return [`  today    ${plural(creditsToday, 'credit')}${left}`];
}
