import { scaleLinear, scaleUtc } from 'd3-scale';
import { area, curveStepAfter, line } from 'd3-shape';
import { count, duration, plural } from '../../../lib/format-text.ts';
import type { PartBar, Pause, RunFacts, RunsData } from '../runs.ts';
import { barTable, colours, histogram, place, segment } from './charts.ts';
import { html, type Markup, type Part } from './html.ts';
import { compact, cut, percent, timeText, value, clockText, dayText } from './text.ts';

/** Section 2: how the run went. */
export function runSection(runs: RunsData | null): Markup {
  const content =
    runs === null
      ? html`<p class="card notice">There is no <code>runs.jsonl</code> in this folder, so times, retries and pauses are not known.</p>`
      : html`${speedCard(runs)}
<div class="pair">${callTimesCard(runs)}${reasonsCard(runs)}</div>
${creditsCard(runs)}
${runsTable(runs.runs)}`;
  return html`<section id="run" aria-labelledby="run-h"><h2 id="run-h">How the run went</h2>
${content}</section>`;
}

const top = 8;
const plotHeight = 136;
const bottom = top + plotHeight;
const chartHeight = bottom + 22;

function speedCard(runs: RunsData): Markup {
  const axis = timeAxis(runs.runs);
  const most = Math.max(1, ...runs.speed.runs.flat());
  const y = scaleLinear().domain([0, most]).nice(4).range([bottom, top]);
  const levels = y.ticks(4);
  const grid = levels.map(
    (level) =>
      html`<rect class="grid" y="${place(y(level))}" width="100%" height="1" fill="${level === 0 ? colours.text : colours.grid}"/>`,
  );
  const said = `Ids answered a second over time: on average ${count(runs.idsPerSecond)}, at most ${count(most)}; paused ${plural(runs.paused, 'time')}, ${duration(runs.pausedMs)} in all; ${count(runs.retries)} retries`;
  const labels = axis.ticks.map(({ x, label }, index) => {
    const anchor = x < 4 ? 'start' : x > 96 ? 'end' : 'middle';
    return html`<text${index % 2 === 1 ? html` class="wide"` : ''} x="${place(x)}%" y="${bottom + 16}" text-anchor="${anchor}" font-size="11" fill="${colours.text}">${label}</text>`;
  });
  return html`<div class="card"><ul class="legend"><li class="of-bar">ids answered a second</li>${
    runs.paused === 0 ? '' : html`<li class="of-paused">all calls paused</li>`
  }${runs.waitedMs === 0 ? '' : html`<li class="of-waiting">waited for credits</li>`}${
    axis.gaps.length === 0 ? '' : html`<li class="of-nothing">nothing ran</li>`
  }${runs.retries === 0 ? '' : html`<li class="of-failed">a call was retried</li>`}</ul>
<div class="plot"><svg class="side" width="52" height="${chartHeight}" aria-hidden="true">${levels.map(
    (level) =>
      html`<text x="44" y="${place(y(level) + 4)}" text-anchor="end" font-size="11" fill="${colours.text}">${compact(level)}</text>`,
  )}</svg><svg width="100%" height="${chartHeight}" role="img" aria-label="${said}">${bands(axis, runs.pauses, top, plotHeight)}${grid}${speedLines(runs, axis, y)}${retryTicks(axis, runs.retriedAtMs)}${labels}</svg></div>
<h3>Parts</h3>${partsChart(axis, runs)}</div>`;
}

/** Grey where nothing ran, amber where calls paused. @param y the upper edge in the chart; it and the height in pixels */
function bands(axis: TimeAxis, pauses: readonly Pause[], y: number, height: number): Part {
  const grey = axis.gaps.map(({ fromMs, toMs }) => {
    const [from, to] = [axis.x(fromMs), axis.x(toMs)];
    const label =
      to - from < 8 || y === 0
        ? ''
        : html`<text class="wide" x="${place((from + to) / 2)}%" y="${y + height / 2}" text-anchor="middle" font-size="11" fill="${colours.text}">${duration(toMs - fromMs)}</text>`;
    return html`${segment({ from, width: to - from, colour: 'nothing' }, y, height)}${label}`;
  });
  const amber = mergedPauses(axis, pauses).map((band) => segment(band, y, height));
  return [grey, amber];
}

interface Band {
  from: number;
  width: number;
  readonly colour: 'paused' | 'waiting';
}

/** Pauses that lie side by side are one band. */
function mergedPauses(axis: TimeAxis, pauses: readonly Pause[]): Band[] {
  const bandsOf: Band[] = [];
  for (const { fromMs, toMs, kind } of [...pauses].sort((a, b) => a.fromMs - b.fromMs)) {
    const from = axis.x(fromMs);
    const end = Math.max(axis.x(toMs), from + 0.3);
    const last = bandsOf.findLast(({ colour }) => colour === kind);
    if (last !== undefined && from <= last.from + last.width + 0.1) last.width = Math.max(last.width, end - last.from);
    else bandsOf.push({ from, width: end - from, colour: kind });
  }
  return bandsOf;
}

function speedLines({ runs, speed }: RunsData, axis: TimeAxis, y: (level: number) => number): Markup {
  const shapes = runs.map(({ beganMs, endedMs }, index) => {
    const rates = speed.runs[index] ?? [];
    const points = [...rates, rates.at(-1) ?? 0].map((rate, step): [number, number] => [
      Math.round(axis.x(Math.min(endedMs, beganMs + step * speed.stepMs)) * 100) / 10,
      Math.round(y(rate) * 10) / 10,
    ]);
    const filled = area()
      .x((point) => point[0])
      .y0(bottom)
      .y1((point) => point[1])
      .curve(curveStepAfter)
      .digits(1);
    const edge = line().curve(curveStepAfter).digits(1);
    return html`<path class="soft" d="${filled(points) ?? ''}" fill="${colours.soft}"/><path class="line" d="${edge(points) ?? ''}" fill="none" stroke="${colours.bar}" stroke-width="1.5" vector-effect="non-scaling-stroke"/>`;
  });
  return html`<svg width="100%" height="${chartHeight}" viewBox="0 0 1000 ${chartHeight}" preserveAspectRatio="none">${shapes}</svg>`;
}

function retryTicks(axis: TimeAxis, atMs: readonly number[]): Part {
  const places = [...new Set(atMs.map((ms) => Math.round(axis.x(ms) * 4) / 4))];
  return places.map(
    (x) =>
      html`<rect class="failed" x="${place(x)}%" y="${bottom - 9}" width="2" height="9" fill="${colours.failed}"/>`,
  );
}

const mostBars = 40;
const rowHeight = 15;

function partsChart(axis: TimeAxis, { parts, pauses }: RunsData): Markup {
  if (parts.length === 0) return html`<p class="muted">No part is finished yet.</p>`;
  const all = parts.reduce((total, each) => total + each.parts, 0);
  if (parts.length >= mostBars || all > parts.length) return partTicks(axis, parts, all);
  const height = parts.length * rowHeight + 4;
  const names = parts.map(
    ({ part }, row) =>
      html`<text x="44" y="${row * rowHeight + 12}" text-anchor="end" font-size="11" fill="${colours.text}">part ${part}</text>`,
  );
  const barsOf = parts.map(({ part, rows, fromMs, toMs }, row) => {
    const from = axis.x(fromMs);
    const to = Math.max(axis.x(toMs), from + 0.4);
    const isInside = to - from > 18;
    const isLeft = isInside || to > 72;
    const x = isInside ? to : isLeft ? from : to;
    const label = html`<text${isInside ? html` class="on"` : ''} x="${place(x)}%" dx="${isLeft ? -6 : 6}" y="${row * rowHeight + 12}" text-anchor="${isLeft ? 'end' : 'start'}" font-size="11" fill="${isInside ? '#ffffff' : colours.text}">${plural(rows, 'row')}</text>`;
    return html`<rect class="bar" x="${place(from)}%" y="${row * rowHeight + 3}" width="${place(to - from)}%" height="${rowHeight - 4}" rx="2" fill="${colours.bar}"><title>part ${part}: ${plural(rows, 'row')}, ${duration(toMs - fromMs)}</title></rect>${label}`;
  });
  const waits = pauses.filter(({ kind }) => kind === 'waiting');
  const said = parts.map(
    ({ part, rows, fromMs, toMs }) => `part ${part}: ${plural(rows, 'row')} in ${duration(toMs - fromMs)}`,
  );
  return html`<div class="plot"><svg class="side" width="52" height="${height}" aria-hidden="true">${names}</svg><svg width="100%" height="${height}" role="img" aria-label="${said.join('; ')}">${bands(axis, waits, 0, height)}${barsOf}</svg></div>`;
}

/** Very many parts: a tick for each commit. */
function partTicks(axis: TimeAxis, parts: readonly PartBar[], all: number): Markup {
  const places = [...new Set(parts.map(({ toMs }) => Math.round(axis.x(toMs) * 5) / 5))];
  const longest = Math.max(...parts.map(({ fromMs, toMs }) => toMs - fromMs));
  const said = `${plural(all, 'part')} ${all === 1 ? 'was' : 'were'} finished; the longest took ${duration(longest)}`;
  return html`<div class="plot"><svg class="side" width="52" height="24" aria-hidden="true"></svg><svg width="100%" height="24" role="img" aria-label="${said}"><rect class="track" y="11" width="100%" height="2" fill="${colours.track}"/>${places.map(
    (x) => html`<rect class="bar" x="${place(x)}%" y="2" width="2" height="20" fill="${colours.bar}"/>`,
  )}</svg></div><p class="muted">${said}. A tick is a commit.</p>`;
}

function callTimesCard({ callTimes, p50, p95, longestMs }: RunsData): Part {
  if (callTimes.length === 0) return '';
  const bound = (seconds: number | null): string => (seconds === null ? '> 60 s' : `≤ ${seconds} s`);
  const bins = callTimes.map(({ upToSeconds, calls }) => ({ label: bound(upToSeconds), count: calls }));
  const figures = html`<dl class="figures"><div><dt>p50</dt><dd>${bound(p50)}</dd></div><div><dt>p95</dt><dd>${bound(p95)}</dd></div><div><dt>max</dt><dd>${longestMs === null ? 'not recorded' : duration(longestMs)}</dd></div></dl>`;
  return html`<div class="stack">${histogram('Call times', bins, 'calls by time from request to answer')}${figures}</div>`;
}

const mostReasons = 8;

function reasonsCard({ retries, retryReasons }: RunsData): Markup {
  if (retries === 0) return html`<div class="card"><h3>Retries</h3><p>No call was sent again.</p></div>`;
  const rest = retryReasons.slice(mostReasons);
  const rows = retryReasons
    .slice(0, mostReasons)
    .map(({ name, count: times }) => ({ name: value(name), count: times, colour: 'failed' as const }));
  const more = rest.reduce((total, each) => total + each.count, 0);
  return html`<div class="card">${barTable({
    caption: 'Retries by reason',
    of: 'reason',
    unit: 'retries',
    whole: retries,
    rows,
    rest: more === 0 ? [] : [{ name: plural(rest.length, 'other reason'), count: more }],
  })}</div>`;
}

const mostDays = 31;

function creditsCard({ creditDays, creditsPerDay }: RunsData): Part {
  if (creditDays.length === 0) return '';
  const shown = creditDays.slice(-mostDays);
  const isCut = shown.length < creditDays.length;
  const limit = creditsPerDay ?? Math.max(1, ...shown.map((day) => day.count));
  const rows = shown.map(({ name, count: credits }) => {
    const width = limit === 0 ? 100 : Math.min(100, (credits / limit) * 100);
    return html`<tr><th scope="row">${name}</th><td class="b"><svg class="bar" width="100%" height="12" aria-hidden="true"><rect class="track" width="100%" height="12" fill="${colours.track}"/>${segment({ from: 0, width: Math.max(0.4, width), colour: 'bar' }, 0, 12)}</svg></td><td class="n">${count(credits)}</td><td class="n s">${creditsPerDay === null ? 'no limit' : percent(credits, creditsPerDay)}</td></tr>
`;
  });
  const of = creditsPerDay === null ? '' : ` of ${count(creditsPerDay)} a day`;
  return html`<div class="card"><table class="bars days"><caption>Credits by UTC day${of}${isCut ? `, the last ${mostDays} of ${creditDays.length} days` : ''}</caption>
<thead><tr><th scope="col">day</th><td></td><th scope="col" class="n">credits</th><th scope="col" class="n">${creditsPerDay === null ? 'limit' : 'share'}</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

const mostRuns = 40;

function runsTable(runs: readonly RunFacts[]): Markup {
  const shown = runs.slice(-mostRuns);
  const cells = shown.map(
    (
      run,
    ) => html`<tr><th scope="row">${run.n}</th><td>${timeText(run.beganMs)}</td><td class="n">${duration(run.endedMs - run.beganMs)}</td><td class="n">${count(run.calls)}</td><td class="n">${count(run.credits)}</td><td class="n">${count(run.fromJournal)}</td><td class="n">${count(run.retries)}</td><td class="n">${count(run.parts)}</td><td>${endText(run)}</td></tr>
`,
  );
  const earlier =
    shown.length < runs.length ? html`<p class="muted">and ${count(runs.length - shown.length)} earlier</p>` : '';
  return html`<div class="card"><table class="rows runs"><caption>Runs</caption><thead><tr><th scope="col">run</th><th scope="col">began (UTC)</th><th scope="col" class="n">took</th><th scope="col" class="n">calls</th><th scope="col" class="n">credits</th><th scope="col" class="n">from journal</th><th scope="col" class="n">retries</th><th scope="col" class="n">parts</th><th scope="col">ended</th></tr></thead><tbody>${cells}</tbody></table>${earlier}</div>`;
}

function endText({ ended, exit, error }: RunFacts): Part {
  if (ended === 'killed') return 'killed (time of its last record)';
  const code = exit === null || (ended === 'complete' && exit === 0) ? '' : `, exit ${exit}`;
  return html`${ended}${code}${error === null ? '' : html` <small><bdi>${cut(error, 120)}</bdi></small>`}`;
}

/** A time between two runs. */
interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Tick {
  /** Percent of the width. */
  readonly x: number;
  readonly label: string;
}

/** Where the moments of an export lie, in percent of the width. Long gaps between runs are drawn short. */
interface TimeAxis {
  readonly x: (ms: number) => number;
  readonly gaps: readonly Gap[];
  readonly ticks: readonly Tick[];
}

/** Most of the width that gaps between runs take, all together and each. */
const gapShare = 0.3;
const oneGapShare = 0.12;
const ticksInAll = 8;
/** Ticks that are nearer to each other, or to a gap, collide. Percent of the width. */
const leastBetween = 8;

export function timeAxis(runs: readonly Pick<RunFacts, 'beganMs' | 'endedMs'>[]): TimeAxis {
  const worked = runs.map(({ beganMs, endedMs }) => ({ fromMs: beganMs, toMs: Math.max(endedMs, beganMs + 1) }));
  const gaps = worked
    .slice(1)
    .map(({ fromMs }, index) => ({ fromMs: worked[index]?.toMs ?? fromMs, toMs: fromMs }))
    .filter((gap) => gap.toMs > gap.fromMs);
  const workMs = worked.reduce((total, { fromMs, toMs }) => total + toMs - fromMs, 0);
  const largest = Math.min(oneGapShare, gapShare / Math.max(1, gaps.length)) * workMs;
  const domain: number[] = [];
  const range: number[] = [];
  let at = 0;
  for (const { fromMs, toMs } of worked) {
    const before = domain.at(-1);
    if (before !== undefined) at += Math.min(Math.max(0, fromMs - before), largest);
    domain.push(Math.max(fromMs, before ?? fromMs));
    range.push(at);
    at += toMs - fromMs;
    domain.push(toMs);
    range.push(at);
  }
  const scale = scaleUtc()
    .domain(domain)
    .range(range.map((each) => (each / at) * 100))
    .clamp(true);
  return { x: scale, gaps, ticks: ticksOf(worked, scale) };
}

function ticksOf(worked: readonly Gap[], x: (ms: number) => number): Tick[] {
  const ticks: Tick[] = [];
  for (const { fromMs, toMs } of worked) {
    const width = x(toMs) - x(fromMs);
    const wanted = Math.round((width / 100) * ticksInAll);
    if (wanted < 1) continue;
    const times = scaleUtc()
      .domain([fromMs, toMs])
      .ticks(wanted)
      .map(Number)
      .filter((ms) => ms % 1000 === 0);
    const stepMs = (times[1] ?? toMs) - (times[0] ?? fromMs);
    for (const ms of times) {
      const at = x(ms);
      if (at - (ticks.at(-1)?.x ?? -leastBetween) >= leastBetween) ticks.push({ x: at, label: labelOf(ms, stepMs) });
    }
  }
  return ticks;
}

function labelOf(ms: number, stepMs: number): string {
  if (stepMs >= 86_400_000) return dayText(ms).slice(5);
  return stepMs < 60_000 ? clockText(ms) : clockText(ms).slice(0, 5);
}
