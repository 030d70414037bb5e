import { createHash } from 'node:crypto';
import { count, plural, byteSize } from '../../../lib/format-text.ts';
import type { ReportData, DriftData, FilesOfTable, NextStep } from '../report-data.ts';
import { accountSection } from './account-section.ts';
import { assetsSection } from './assets-section.ts';
import { colours, shareBar, sparkline } from './charts.ts';
import { html, inline, type Markup, type Part, joined } from './html.ts';
import { runSection } from './run-section.ts';
import { style } from './style.ts';
import { cut, timeText, compact, edgeText, shownNumber, percent, value } from './text.ts';
import type { ColumnProfile, DataProfile, TableProfile } from '../profile/profile-source.ts';
import { installLine } from '../../../lib/packages/optional-packages.ts';
import type { DriftKind } from '../../../core/records/drift.ts';
import type { UnexportedData, UnexportedGroup } from '../unexported.ts';
import { proofsText } from '../../../places/export/export-facts.ts';

/** The page of a report: one HTML file that needs nothing else. The same data gives the same bytes. */
export function reportPage(data: ReportData): string {
  const policy = `default-src 'none'; style-src '${hashOf(style)}'; script-src '${hashOf(script)}'; base-uri 'none'; form-action 'none'`;
  const { profile } = data;
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${cut(data.name)} · asset-export report</title>
<style>${inline(style)}</style>
</head>
<body>
<svg width="0" height="0" aria-hidden="true"><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"><path class="hatch" d="M0 6L6 0" stroke="${colours.duplicate}" stroke-width="1.4"/></pattern></defs></svg>
<header><div class="wrap"><div class="head"><h1><bdi>${cut(data.name)}</bdi></h1>${statePill(data)}<button id="theme" type="button" data-script hidden>Dark</button></div>
<p>${subtitle(data)}</p>${stateNote(data)}</div></header>
<nav aria-label="Sections"><div class="wrap">${jumpLinks(data)}</div></nav>
<main class="wrap">
${accountSection(data)}
${runSection(data.runs)}
${
  profile === null
    ? profileNotice(data.profileMissing ?? '')
    : html`${assetsSection(profile, extentOf(profile.parts))}
${columnsSection(profile, extentOf(profile.parts))}`
}
${driftSection(data.drift, data.counts.exported)}
${unexportedSection(data)}
${nextSection(data.next)}
${factsSection(data)}
</main>
<script>${inline(script)}</script>
</body>
</html>
`;
  return page.text;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function statePill({ state }: ReportData): Markup {
  const exit = state.exit === null || (state.kind === 'complete' && state.exit === 0) ? '' : `, exit ${state.exit}`;
  const words = `${state.kind}${state.isKilled ? ', killed' : exit}`;
  const look = state.kind === 'complete' && exit === '' ? 'good' : state.kind === 'goes on' ? 'live' : 'bad';
  return html`<span class="pill ${look}">${words}</span>`;
}

function subtitle({ state, inputs, madeBy }: ReportData): Part {
  const { beganMs, endedMs } = state;
  const times =
    beganMs === null
      ? 'times not recorded'
      : `${timeText(beganMs).slice(0, 16)} ${endedMs === null ? '' : `to ${timeText(endedMs).slice(0, 16)} `}UTC`;
  return [times, plural(inputs.length, 'id file'), `asset-export ${madeBy}`].map((text, index) =>
    index === 0 ? html`<span>${text}</span>` : html` · <span>${text}</span>`,
  );
}

function stateNote({ state }: ReportData): Part {
  if (state.isKilled) return html`<p class="why">The last run was killed: it could not report how it ended.</p>`;
  return state.error === null ? '' : html`<p class="why"><bdi>${cut(state.error, 240)}</bdi></p>`;
}

function jumpLinks({ profile, next }: ReportData): Part {
  const links = [
    ['account', 'Account'],
    ['run', 'Run'],
    ...(profile === null ? [] : [['assets', 'Data'] as const, ['columns', 'Columns'] as const]),
    ['drift', 'Drift'],
    ['unexported', 'Not exported'],
    ...(next.length === 0 ? [] : [['next', 'Next'] as const]),
    ['facts', 'Facts'],
  ] as const;
  return html`<ul>${links.map(([id, name]) => html`<li><a href="#${id}">${name}</a></li>`)}</ul>`;
}

function extentOf({ read, all }: { readonly read: number; readonly all: number }): Part {
  return read === all ? '' : html`<p class="muted">from ${count(read)} of ${count(all)} parts</p>`;
}

/**
 * What the page's only script does: theme, finding a column, opening all, copying. Nothing else needs it. Its hash is in the
 * page's policy.
 */
const script = `(() => {
const d = document, root = d.documentElement, one = (s) => d.querySelector(s), all = (s) => [...d.querySelectorAll(s)];
all('[data-script]').forEach((e) => { e.hidden = false; });
const theme = one('#theme'), system = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (root.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
const say = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; };
theme.onclick = () => { root.dataset.theme = isDark() ? 'light' : 'dark'; say(); };
system.onchange = say;
say();
const find = one('#find'), open = one('#open');
if (find) find.oninput = () => {
const words = find.value.trim().toLowerCase();
let found = 0;
all('[data-column]').forEach((row) => {
row.hidden = !row.dataset.column.toLowerCase().includes(words);
if (!row.hidden) found += 1;
});
all('#columns .card').forEach((card) => { card.hidden = !card.querySelector('[data-column]:not([hidden])'); });
one('#found').textContent = words === '' ? '' : found + (found === 1 ? ' column' : ' columns');
};
if (open) open.onclick = () => {
const isOpen = open.getAttribute('aria-pressed') !== 'true';
open.setAttribute('aria-pressed', isOpen);
all('#columns details').forEach((e) => { e.open = isOpen; });
};
all('.copy').forEach((button) => {
button.onclick = async () => {
const code = button.parentNode.querySelector('code');
try { await navigator.clipboard.writeText(code.textContent); } catch {
getSelection().selectAllChildren(code);
d.execCommand('copy');
}
button.textContent = 'Copied';
};
});
})();`;

/** Section 4: every column. */
function columnsSection({ tables }: DataProfile, extent: Part): Markup {
  return html`<section id="columns" aria-labelledby="columns-h"><h2 id="columns-h">Every column</h2>
${extent}<p class="tools" data-script hidden><label for="find">Find a column</label> <input id="find" type="search" autocomplete="off" spellcheck="false"> <button id="open" type="button" aria-pressed="false">Open all</button> <span id="found" role="status"></span></p>
${tables.map(tableCard)}
</section>`;
}

function tableCard(table: TableProfile): Markup {
  return html`<div class="card flush" id="columns-${table.name}"><table class="rows cols"><caption>${table.name} <span class="muted">${plural(table.rows, 'row')}, ${plural(table.columns.length, 'column')}</span></caption>
<thead><tr><th scope="col">column</th><th scope="col">type</th><th scope="col" class="f">filled</th><th scope="col" class="n">distinct</th><th scope="col">range or most frequent</th><th scope="col">distribution</th></tr></thead>
<tbody>${table.columns.map((column) => columnRow(column, table.rows))}</tbody></table></div>`;
}

function columnRow(column: ColumnProfile, rows: number): Markup {
  const { name, type, filled, emptyText, distinct } = column;
  const empty = emptyText === 0 ? '' : html`<small>${percent(emptyText, rows)} empty text</small>`;
  const isNull = rows > 0 && filled === 0;
  return html`<tr data-column="${name}"><th scope="row"><bdi>${name}</bdi></th><td class="t">${type}</td><td class="f">${shareBar(filled, rows)}<span>${isNull ? 'always null' : percent(filled, rows)}</span>${empty}</td><td class="n">${isNull ? '–' : count(distinct)}</td><td class="r">${rangeOf(column)}</td><td class="d">${distribution(column)}</td></tr>
`;
}

function rangeOf({ type, filled, min, max, top, longest }: ColumnProfile): Part {
  if (filled === 0) return '';
  const [first] = top;
  if (first !== undefined) return html`${shownValue(first.value)} <small>${percent(first.count, filled)}</small>`;
  if (type === 'timestamp') return min === max ? timeOf(min) : `${timeOf(min)} to ${timeOf(max)}`;
  if (type === 'int64' || type === 'double' || type === 'decimal') {
    return min === max ? shownNumber(min ?? '') : `${shownNumber(min ?? '')} to ${shownNumber(max ?? '')}`;
  }
  return longest === null ? '' : html`<small>longest: ${plural(longest, 'character')}</small>`;
}

function timeOf(microseconds: string | null): string {
  return timeText(Number(microseconds) / 1000);
}

function distribution({ top, bins, filled, isLogarithmic }: ColumnProfile): Part {
  if (bins.length > 0) {
    const [first, last] = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 0];
    const most = Math.max(...bins.map((bin) => bin.count));
    const classes = bins.length === 1 ? '1 class' : `${count(bins.length)} classes`;
    const said = `${classes} from ${edgeText(first)} to ${edgeText(last)}, at most ${compact(most)} rows${isLogarithmic ? ', logarithmic' : ''}`;
    return html`${sparkline(
      bins.map((bin) => bin.count),
      said,
    )}${isLogarithmic ? html`<small>logarithmic</small>` : ''}`;
  }
  if (top.length === 0) return '';
  const rows = top.map(
    (each) =>
      html`<tr><td>${shownValue(each.value)}</td><td>${count(each.count)}</td><td>${percent(each.count, filled)}</td></tr>`,
  );
  return html`<details><summary>top ${top.length}</summary><table class="list"><tbody>${rows}</tbody></table></details>`;
}

function shownValue(text: string): Markup {
  return text === '' ? html`<i>empty text</i>` : value(text);
}

const kinds: Readonly<Record<DriftKind, string>> = {
  misfit: 'value does not fit its column',
  unknownField: 'unknown field',
  unknownValue: 'unknown value',
};

/** Section 5: how records differ from the specification. */
function driftSection({ rows, more }: DriftData, exported: number): Markup {
  const table = html`<p>Records differ from the specification here. Nothing is lost: unknown fields and values that fit no column are in <code>extra</code>.</p>
<table class="rows drift"><thead><tr><th scope="col">path</th><th scope="col">kind</th><th scope="col" class="n">records</th><th scope="col" class="n">share</th><th scope="col">sample id</th></tr></thead><tbody>${rows.map(
    ({ path, kind, count: records, sampleId }) =>
      html`<tr><th scope="row"><bdi>${cut(path)}</bdi></th><td>${kinds[kind]}</td><td class="n">${count(records)}</td><td class="n s">${records > exported ? '–' : percent(records, exported)}</td><td><bdi class="id">${cut(sampleId)}</bdi></td></tr>
`,
  )}</tbody></table>${more === 0 ? '' : html`<p class="muted">and ${count(more)} more</p>`}`;
  return html`<section id="drift" aria-labelledby="drift-h"><h2 id="drift-h">Drift</h2>
<div class="card">${rows.length === 0 ? html`<p>Every record is as the specification says: no unknown field or value.</p>` : table}</div>
</section>`;
}

/** Section 6: the ids that are no row, and why. */
function unexportedSection({ unexported, counts }: ReportData): Markup {
  const { groups, more } = unexported;
  const rest =
    more.groups === 0
      ? ''
      : html`<p class="muted">and ${plural(more.groups, 'more reason')} with ${plural(more.ids, 'id')}</p>`;
  const none = counts.read === 0 ? 'No id was read.' : 'Every id that was read and finished is a row.';
  return html`<section id="unexported" aria-labelledby="unexported-h"><h2 id="unexported-h">Not exported</h2>
<div class="card">${groups.length === 0 ? html`<p>${none}</p>` : html`${someParts(unexported)}${groupTable(groups)}${rest}`}</div>
</section>`;
}

function someParts({ parts }: UnexportedData): Part {
  return parts.read === parts.all
    ? ''
    : html`<p class="muted">from ${count(parts.read)} of ${count(parts.all)} parts</p>`;
}

function groupTable(groups: readonly UnexportedGroup[]): Markup {
  return html`<table class="rows unexported"><thead><tr><th scope="col">fate</th><th scope="col">reason</th><th scope="col" class="n">ids</th><th scope="col">examples</th></tr></thead><tbody>${groups.map(
    ({ fate, reason, ids, examples }) =>
      html`<tr><th scope="row" class="of-${isFate(fate) ? fate : 'pending'}">${fate}</th><td><bdi>${cut(reason, 120)}</bdi></td><td class="n">${count(ids)}</td><td>${examples.map(
        ({ id, source, line }) =>
          html`<div><bdi class="id">${cut(id)}</bdi> <small><bdi>${cut(source)}</bdi>:${line}</small></div>`,
      )}</td></tr>
`,
  )}</tbody></table>`;
}

function isFate(text: string): boolean {
  return ['missing', 'invalid', 'duplicate', 'failed'].includes(text);
}

/** Section 3 and 4 in one line where there is no profile. */
function profileNotice(why: string): Markup {
  const todo = why.includes('@duckdb/node-api')
    ? html` Run <code>${installLine(['@duckdb/node-api']).split('\n')[0]}</code> and make the report again.`
    : '';
  return html`<p class="card notice" id="assets">The assets and their columns are not shown: ${value(why)}.${todo}</p>`;
}

/** Section 7: what to do next. Absent until the export is complete. */
function nextSection(steps: readonly NextStep[]): Markup {
  if (steps.length === 0) return html``;
  const cards = steps.map(
    ({ title, about, command }) =>
      html`<li class="card"><h3>${title}</h3><p>${about}</p><div class="command"><pre><code>${joined(command.split('\n'), newLine)}</code></pre><button type="button" class="copy" data-script hidden aria-label="Copy: ${title}">Copy</button></div></li>`,
  );
  return html`<section id="next" aria-labelledby="next-h"><h2 id="next-h">What to do next</h2>
<p class="muted">In the folder that holds this export.</p>
<ul class="steps">${cards}</ul></section>`;
}

/** A line feed as markup: in a value it would be shown as a character. */
const newLine = html`\n`;

const noteWords = {
  formulaCells: 'CSV cells that a spreadsheet would run as a formula',
  replacedSurrogates: 'texts in which a lone surrogate became U+FFFD',
  foreignRecords: 'records that were not requested',
  repeatedRecords: 'records that came twice',
  recordsWithoutId: 'records without an id',
  otherResponseIds: 'answers with another JSON-RPC id',
} as const;

/** Section 8: facts. */
function factsSection(data: ReportData): Markup {
  const notes = Object.entries(noteWords).flatMap(([name, words]) => {
    const number = data.notes[name as keyof typeof noteWords];
    return number === 0 ? [] : [html`<li>${count(number)} ${words}</li>`];
  });
  if (data.proofs !== null) notes.unshift(html`<li>${proofsText(data.proofs)}</li>`);
  return html`<section id="facts" aria-labelledby="facts-h"><h2 id="facts-h">Facts</h2>
<div class="card">${filesTable(data.files)}</div>
<div class="card">${inputsTable(data)}</div>
<div class="card"><table class="rows settings"><caption>Settings that decide the files</caption><thead><tr><th scope="col">field</th><th scope="col">value</th></tr></thead><tbody>${data.settings.map(
    ({ name, value }) => html`<tr><th scope="row">${name}</th><td><bdi>${cut(value, 200)}</bdi></td></tr>
`,
  )}</tbody></table></div>
${notes.length === 0 ? '' : html`<div class="card"><h3>Notes</h3><ul>${notes}</ul></div>`}
<p class="muted">Exported by asset-export ${data.madeBy}. Report by asset-export ${data.version}. Times are UTC.</p>
</section>`;
}

/** A row a table, a column a format: every format holds the same rows. */
function filesTable(files: readonly FilesOfTable[]): Markup {
  const formats = [...new Set(files.map(({ format }) => format))];
  const tables = [...new Set(files.map(({ table }) => table))];
  const rows = tables.map((table) => {
    const mine = files.filter((each) => each.table === table);
    const sizes = formats.map((format) => {
      const found = mine.find((each) => each.format === format);
      return html`<td class="n">${found === undefined ? '' : byteSize(found.bytes)}</td>`;
    });
    const number = mine.reduce((total, each) => total + each.files, 0);
    return html`<tr><th scope="row">${table}</th><td class="n">${count(mine[0]?.rows ?? 0)}</td><td class="n">${count(number)}</td>${sizes}</tr>
`;
  });
  const bytes = files.reduce((total, each) => total + each.bytes, 0);
  return html`<table class="rows files"><caption>Files <span class="muted">${byteSize(bytes)} in all</span></caption><thead><tr><th scope="col">table</th><th scope="col" class="n">rows</th><th scope="col" class="n">files</th>${formats.map((format) => html`<th scope="col" class="n">${format}</th>`)}</tr></thead><tbody>${rows}</tbody></table>`;
}

const mostInputs = 50;

function inputsTable({ inputs }: ReportData): Markup {
  const more = inputs.length - mostInputs;
  return html`<table class="rows inputs"><caption>Inputs</caption><thead><tr><th scope="col">file</th><th scope="col" class="n">size</th><th scope="col">SHA-256</th></tr></thead><tbody>${inputs
    .slice(0, mostInputs)
    .map(
      ({
        name,
        bytes,
        sha256,
      }) => html`<tr><th scope="row"><bdi>${cut(name, 100)}</bdi></th><td class="n">${byteSize(bytes)}</td><td class="hash">${sha256}</td></tr>
`,
    )}</tbody></table>${more > 0 ? html`<p class="muted">and ${count(more)} more</p>` : ''}`;
}
