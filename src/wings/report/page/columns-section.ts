import { count, plural } from '../../../lib/format-text.ts';
import type { ColumnProfile, DataProfile, TableProfile } from '../profile/profile-source.ts';
import { shareBar, sparkline } from './charts.ts';
import { html, type Markup, type Part } from './html.ts';
import { compact, edgeText, shownNumber, percent, timeText, value } from './text.ts';

/** Section 4: every column. */
export function columnsSection({ tables }: DataProfile, extent: Part): Markup {
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
