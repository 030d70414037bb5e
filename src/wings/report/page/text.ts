import { count } from '../../../lib/format-text.ts';
import { html, type Markup, visible } from './html.ts';

/** Longest value of a record that is shown, in characters. */
const mostCharacters = 56;

/** Text that comes from outside, cut, in an element whose direction is its own. */
export function value(text: string): Markup {
  return html`<bdi>${cut(text)}</bdi>`;
}

/** Text that comes from outside, cut, for attributes. */
export function cut(text: string, most = mostCharacters): string {
  const shown = Array.from(visible(text.slice(0, most * 2)));
  return shown.length <= most && text.length <= most * 2 ? shown.join('') : `${shown.slice(0, most - 1).join('')}…`;
}

/** An id that is known by its ends: `8Fv4…RXwSe`. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : `${id.slice(0, 4)}…${id.slice(-4)}`;
}

/** `12.4 %`; shares that are not quite none or all say so. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const share = (part / whole) * 100;
  if (part === 0 || part === whole) return `${share} %`;
  if (share < 0.1) return '< 0.1 %';
  if (share > 99.9) return '> 99.9 %';
  return `${share.toFixed(1)} %`;
}

/** A number of a column: whole ones in groups of three, others with what matters of them. */
export function shownNumber(text: string): string {
  if (/^-?\d+$/.test(text)) return text.replace(/\B(?=(\d{3})+$)/g, ',');
  const number = Number(text);
  return Number.isFinite(number) ? Number(number.toPrecision(6)).toString() : text;
}

/** The edge of a class. */
export function edgeText(number: number): string {
  if (Math.abs(number) >= 1e6) return compact(number);
  return Number.isInteger(number) ? signed(number) : String(Number(number.toPrecision(3)));
}

/** `1.2 M`: for axes. */
export function compact(number: number): string {
  const size = Math.abs(number);
  if (size < 1e3) return String(Number(number.toPrecision(3)));
  const units = ['k', 'M', 'G', 'T', 'P', 'E'];
  const power = Math.min(units.length, Math.floor(Math.log10(size) / 3));
  return `${Number((number / 1000 ** power).toPrecision(3))} ${units[power - 1] ?? ''}`;
}

function signed(number: number): string {
  return number < 0 ? `-${count(-number)}` : count(number);
}

/** `2026-11-23 11:06:15` */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/** `2026-11-23` */
export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** `11:06:15` */
export function clockText(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}
