import { count, plural } from '../../../lib/format-text.ts';
import { installLine } from '../../../lib/packages/optional-packages.ts';
import type { DriftKind } from '../../../core/records/drift.ts';
import type { DriftData, ReportData } from '../report-data.ts';
import type { UnexportedData, UnexportedGroup } from '../unexported.ts';
import { html, type Markup, type Part } from './html.ts';
import { cut, percent, value } from './text.ts';

const kinds: Readonly<Record<DriftKind, string>> = {
  misfit: 'value does not fit its column',
  unknownField: 'unknown field',
  unknownValue: 'unknown value',
};

/** Section 5: how records differ from the specification. */
export function driftSection({ rows, more }: DriftData, exported: number): Markup {
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
export function unexportedSection({ unexported, counts }: ReportData): Markup {
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
export function profileNotice(why: string): Markup {
  const todo = why.includes('@duckdb/node-api')
    ? html` Run <code>${installLine(['@duckdb/node-api']).split('\n')[0]}</code> and make the report again.`
    : '';
  return html`<p class="card notice" id="assets">The assets and their columns are not shown: ${value(why)}.${todo}</p>`;
}
