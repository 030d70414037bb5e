import { count } from '../../../lib/format-text.ts';
import { html, type Markup, type Part } from './html.ts';
import { percent } from './text.ts';

/** Colours stand in attributes as well, for viewers that allow no styles. */
export const colours = {
  exported: '#1c6e8c',
  carried: '#4f8f6b',
  missing: '#b97a00',
  invalid: '#a23b86',
  duplicate: '#717a90',
  failed: '#c0392b',
  pending: '#b9c3cf',
  bar: '#1c6e8c',
  soft: '#cfe3ea',
  paused: '#f3d9a0',
  waiting: '#e6d5f0',
  nothing: '#e9edf1',
  track: '#e9edf1',
  grid: '#dfe4ea',
  text: '#4b5768',
} as const;

export type Colour = keyof typeof colours;

/** A number of an attribute, with two digits at most. */
export function place(number: number): string {
  return String(Math.round(number * 100) / 100);
}

/** A part of a bar from the left, in percent of its width. */
export interface Segment {
  readonly from: number;
  readonly width: number;
  readonly colour: Colour;
  /** Hatched: neither one nor the other. */
  readonly isHatched?: boolean;
}

export function segment({ from, width, colour }: Segment, y: number, height: number): Markup {
  return html`<rect class="${colour}" x="${place(from)}%" y="${y}" width="${place(width)}%" height="${height}" fill="${colours[colour]}"/>`;
}

/** A horizontal bar whose cell says the same as a number: hidden from readers. */
export function bar(segments: readonly Segment[]): Markup {
  return html`<svg class="bar" width="100%" height="12" aria-hidden="true"><rect class="track" width="100%" height="12" fill="${colours.track}"/>${segments.map(
    (each) =>
      each.isHatched === true
        ? html`<rect x="${place(each.from)}%" width="${place(each.width)}%" height="12" fill="url(#hatch)"/>`
        : segment(each, 0, 12),
  )}</svg>`;
}

/** A share of a whole as a bar. */
export function shareBar(part: number, whole: number, colour: Colour = 'bar'): Markup {
  const width = whole === 0 ? 0 : (part / whole) * 100;
  return bar([{ from: 0, width: part === 0 ? 0 : Math.max(width, 0.6), colour }]);
}

export interface BarRow {
  readonly name: Part;
  readonly count: number;
  /** Below the name. */
  readonly detail?: Part;
  readonly colour?: Colour;
}

export interface BarTable {
  readonly caption: string;
  readonly rows: readonly BarRow[];
  /** What the rows do not list: without bars, as they are no single value. */
  readonly rest?: readonly BarRow[];
  /** What the shares are of. */
  readonly whole: number;
  /** The heading of the first column. */
  readonly of: string;
  /** The heading of the counts. */
  readonly unit: string;
}

/** A row a value: its name, a bar as long as its count compared with the largest, the count and its share. */
export function barTable({ caption, rows, rest = [], whole, of, unit }: BarTable): Markup {
  const numbers = (row: BarRow): Markup =>
    html`<td class="n">${count(row.count)}</td><td class="n s">${percent(row.count, whole)}</td>`;
  const most = Math.max(1, ...rows.map((row) => row.count));
  return html`<table class="bars"><caption>${caption}</caption>
<thead><tr><th scope="col">${of}</th><td></td><th scope="col" class="n">${unit}</th><th scope="col" class="n">share</th></tr></thead>
<tbody>${rows.map(
    (
      row,
    ) => html`<tr><th scope="row">${row.name}${row.detail === undefined ? '' : html`<small>${row.detail}</small>`}</th><td class="b">${shareBar(
      row.count,
      most,
      row.colour,
    )}</td>${numbers(row)}</tr>
`,
  )}${rest.map((row) => html`<tr class="rest"><th scope="row">${row.name}</th><td></td>${numbers(row)}</tr>`)}</tbody></table>`;
}

const histogramHeight = 96;

/** Columns side by side; every label and count is in its description, some labels are drawn. */
export function histogram(
  caption: string,
  bins: readonly { readonly label: string; readonly count: number }[],
  unit: string,
): Markup {
  const most = Math.max(1, ...bins.map((bin) => bin.count));
  const width = 100 / Math.max(1, bins.length);
  // A label of many characters takes the room of several columns.
  const longest = Math.max(1, ...bins.map(({ label }) => label.length));
  const every = Math.max(1, Math.ceil((bins.length * (longest + 1)) / 44));
  const said = bins.map(({ label, count: each }) => `${label}: ${count(each)}`).join('; ');
  const columns = bins.map(({ label, count: each }, index) => {
    const height = each === 0 ? 0 : Math.max(2, (each / most) * histogramHeight);
    const x = index * width + width * 0.08;
    return html`<rect class="bar" x="${place(x)}%" y="${place(histogramHeight + 16 - height)}" width="${place(width * 0.84)}%" height="${place(height)}" fill="${colours.bar}"><title>${label}: ${count(each)}</title></rect>`;
  });
  const labels = bins.map(({ label }, index) => {
    const isLast = index === bins.length - 1;
    const isShown = isLast || (index % every === 0 && index + every / 2 < bins.length - 1);
    if (!isShown) return '';
    const [x, anchor] =
      index === 0 && longest * bins.length > 40
        ? [0, 'start']
        : isLast && longest * bins.length > 40
          ? [100, 'end']
          : [(index + 0.5) * width, 'middle'];
    return html`<text x="${place(x)}%" y="${histogramHeight + 31}" text-anchor="${anchor}" font-size="11" fill="${colours.text}">${label}</text>`;
  });
  const tallest = bins.findIndex((bin) => bin.count === most);
  const tallX = (tallest + 0.5) * width;
  const [peakX, peakAnchor] = tallX < 12 ? [0, 'start'] : tallX > 88 ? [100, 'end'] : [tallX, 'middle'];
  const peak = html`<text x="${place(peakX)}%" y="11" text-anchor="${peakAnchor}" font-size="11" fill="${colours.text}">${count(most)}</text>`;
  return html`<figure class="card"><figcaption>${caption} <span class="muted">${unit}</span></figcaption>
<svg width="100%" height="${histogramHeight + 36}" role="img" aria-label="${caption}, ${unit}: ${said}">${tallest < 0 ? '' : peak}${columns}<rect class="axis" y="${histogramHeight + 16}" width="100%" height="1" fill="${colours.text}"/>${labels}</svg></figure>`;
}

const sparkWidth = 144;
const sparkHeight = 26;

/** The classes of a number column, as small as a line of text. */
export function sparkline(counts: readonly number[], said: string): Markup {
  const most = Math.max(1, ...counts);
  const width = sparkWidth / Math.max(1, counts.length);
  // One path: a page has dozens of these.
  const columns = counts.map((each, index) => {
    const height = Math.max(1.5, (each / most) * sparkHeight);
    const right = place(width * 0.84);
    return each === 0 ? '' : `M${place(index * width)} ${sparkHeight}v-${place(height)}h${right}v${place(height)}z`;
  });
  return html`<svg class="spark" width="${sparkWidth}" height="${sparkHeight + 2}" role="img" aria-label="${said}"><path class="exported" d="${columns.join('')}" fill="${colours.bar}"/><rect class="axis" y="${sparkHeight + 1}" width="100%" height="1" fill="${colours.grid}"/></svg>`;
}
