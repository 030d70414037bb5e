import { byteSize, count, duration, plural } from '../../../lib/format-text.ts';
import { estimateText, limitText } from '../../../places/export/export-facts.ts';
import type { Look, ReportData } from '../report-data.ts';
import { type Colour, colours, place, type Segment, segment } from './charts.ts';
import { html, joined, type Markup, type Part } from './html.ts';
import { cut, percent } from './text.ts';

interface Fate {
  readonly name: Colour & keyof typeof meanings;
  readonly ids: number;
}

const meanings = {
  exported: 'is a row of assets',
  carried: 'is a row of assets, taken from the base; cost nothing',
  missing: 'the service has no such asset',
  invalid: 'not an id; cost nothing',
  duplicate: 'read before; cost nothing',
  failed: 'the service answered with an error for this id',
  pending: 'read, and in no finished part yet',
} as const;

/** Section 1: what became of every id. */
export function accountSection(data: ReportData): Markup {
  const { counts, pending } = data;
  const fates: Fate[] = [
    { name: 'exported', ids: counts.exported },
    ...(counts.carried === 0 ? [] : [{ name: 'carried', ids: counts.carried } as const]),
    { name: 'missing', ids: counts.missing },
    { name: 'invalid', ids: counts.invalid },
    { name: 'duplicate', ids: counts.duplicate },
    { name: 'failed', ids: counts.failed },
    ...(pending === 0 ? [] : [{ name: 'pending', ids: pending } as const]),
  ];
  return html`<section id="account" aria-labelledby="account-h"><h2 id="account-h">What became of every id</h2>
${data.limit === null ? '' : html`<p>This export reads ${limitText(data.limit)}.${estimated(data)}</p>`}
${aboutAccount(data)}<div class="card flush">${fateBars(counts.read, fates)}${equation(counts.read, fates)}</div>
${tiles(data)}
${data.look.length === 0 ? '' : worthALook(data.look)}
</section>`;
}

/** What a sample says of all ids. */
function estimated({ counts, limit }: ReportData): string {
  const of = (name: 'exported' | 'missing') => estimateText(counts[name], limit);
  const [exported, missing] = [of('exported'), of('missing')];
  return exported === undefined || missing === undefined
    ? ''
    : ` Of all ids, ${exported} would be exported and ${missing} missing (95 % intervals).`;
}

/** What no fate says: what is paid and not written, and what the base had. */
function aboutAccount({ account, base }: ReportData): Markup {
  const { fetched, unlisted } = account;
  const said = [
    ...(fetched === 0
      ? []
      : [
          `Of the pending ids, ${count(fetched)} ${fetched === 1 ? 'is' : 'are'} fetched and paid, and not written yet.`,
        ]),
    ...((unlisted ?? 0) === 0
      ? []
      : [
          `${count(unlisted ?? 0)} of the ${base === null ? '' : count(base.rows)} assets of the base are not listed now.${base?.isSetAside === true ? ' Too many: the export is set aside.' : ''}`,
        ]),
  ];
  return said.length === 0
    ? html``
    : html`<p>${said.join(' ')}</p>
`;
}

const barHeight = 44;
const lensHeight = 26;
const secondHeight = 30;
/** Narrower segments could not be seen. Percent of the width. */
const leastWidth = 0.25;

function fateBars(read: number, fates: readonly Fate[]): Markup {
  const [exported] = fates;
  const others = fates.slice(1).filter(({ ids }) => ids > 0);
  const lost = others.reduce((total, { ids }) => total + ids, 0);
  const said = fates.map(({ name, ids }) => `${name}: ${count(ids)}`).join('; ');
  const from = read === 0 ? 0 : Math.min(100 - leastWidth * others.length, ((exported?.ids ?? 0) / read) * 100);
  const first = [
    ...(exported === undefined || exported.ids === 0 ? [] : [{ from: 0, width: from, colour: exported.name }]),
    ...segmentsOf(others, from),
  ];
  const isMagnified = lost > 0 && from > 40;
  const height = barHeight + (isMagnified ? lensHeight + secondHeight : 0);
  const label =
    exported === undefined || from < 30
      ? ''
      : html`<text class="on" x="12" y="${barHeight / 2 + 6}" font-size="16" font-weight="600" fill="#ffffff">${count(exported.ids)} exported · ${percent(exported.ids, read)}</text>`;
  const lens = isMagnified
    ? html`<svg y="${barHeight}" width="100%" height="${lensHeight}" viewBox="0 0 100 ${lensHeight}" preserveAspectRatio="none"><polygon class="lens" points="${place(from)},0 100,0 100,${lensHeight} 0,${lensHeight}" fill="${colours.nothing}"/></svg>${segmentsOf(others, 0).map((each) => segment(each, barHeight + lensHeight, secondHeight))}`
    : '';
  return html`<div class="fates"><p class="note">all ${count(read)} ids that were read</p>
<svg width="100%" height="${height}" role="img" aria-label="${count(read)} ids: ${said}"><rect class="track" width="100%" height="${barHeight}" fill="${colours.track}"/>${first.map((each) => segment(each, 0, barHeight))}${label}${lens}</svg>
${isMagnified ? html`<p class="note">the ${count(lost)} ids that are not rows, magnified ${magnified(from)}</p>` : ''}</div>`;
}

/** Fates side by side from a place to the right end. */
function segmentsOf(fates: readonly Fate[], from: number): Segment[] {
  const all = fates.reduce((total, { ids }) => total + ids, 0);
  const room = 100 - from - fates.length * Math.min(leastWidth, (100 - from) / Math.max(1, fates.length));
  const least = fates.length === 0 ? 0 : (100 - from - room) / fates.length;
  let at = from;
  return fates.map(({ name, ids }) => {
    const width = least + (ids / all) * room;
    const one = { from: at, width, colour: name };
    at += width;
    return one;
  });
}

function magnified(from: number): string {
  const times = 100 / (100 - from);
  return times < 1.5 ? 'a little' : `${count(times)} times`;
}

function equation(read: number, fates: readonly Fate[]): Markup {
  const cells = fates.map(
    ({ name, ids }, index) =>
      html`<li class="of-${name}${ids === 0 ? ' zero' : ''}"><b><i>${index === 0 ? '=' : '+'}</i> ${count(ids)}</b> <strong>${name}</strong> <span>${meanings[name]}</span></li>
`,
  );
  return html`<ul class="equation"><li class="first"><b>${count(read)}</b> <strong>read</strong> <span>every id of the inputs</span></li>
${cells}</ul>`;
}

function tiles(data: ReportData): Markup {
  const { runs, credits, counts, files } = data;
  const bytes = files.reduce((total, each) => total + each.bytes, 0);
  const number = files.reduce((total, each) => total + each.files, 0);
  const waited = runs === null || runs.waitedMs === 0 ? '' : `, and waited ${duration(runs.waitedMs)} for credits`;
  const each =
    counts.exported === 0 ? 'no asset yet' : `${Number((credits / counts.exported).toPrecision(2))} an asset`;
  return html`<ul class="tiles">
${tile(count(data.rows), data.rows === 1 ? 'row' : 'rows', `in ${plural(data.tables.length, 'table')}`)}
${tile(count(data.calls), data.calls === 1 ? 'call' : 'calls', runs === null ? 'retries not recorded' : `${count(runs.retries)} ${runs.retries === 1 ? 'retry' : 'retries'}${runs.callsAtOnce === undefined ? '' : `, up to ${runs.callsAtOnce} at once`}`)}
${tile(count(credits), 'credits', each)}
${runs === null ? tile('–', 'time', 'not recorded') : tile(duration(runs.workedMs), `in ${plural(runs.runs.length, 'run')}`, `${count(runs.idsPerSecond)} ids/s`)}
${runs === null ? tile('–', 'paused', 'not recorded') : tile(runs.pausedMs === 0 ? '0 s' : duration(runs.pausedMs), 'paused', `${plural(runs.paused, 'time')}${waited}`)}
${tile(byteSize(bytes), `in ${plural(number, 'file')}`, plural(data.parts, 'part'))}
</ul>`;
}

function tile(figure: string, name: string, about: string): Markup {
  return html`<li><b>${figure}</b> <strong>${name}</strong> <span>${about}</span></li>`;
}

function worthALook(looks: readonly Look[]): Markup {
  const line = ({ target, link, rest, names }: Look): Part => {
    const listed = names.map((name) => html`<code><bdi>${cut(name)}</bdi></code>`);
    return html`<li><a href="#${target}">${link}</a><bdi>${cut(rest, 120)}</bdi>${listed.length === 0 ? '' : html` ${joined(listed, ', ')}`}</li>`;
  };
  return html`<div class="card look"><h3>Worth a look</h3><ul>${looks.map(line)}</ul></div>`;
}
