import { createHash } from 'node:crypto';
import { count, plural } from '../../../lib/format-text.ts';
import type { ReportData } from '../report-data.ts';
import { accountSection } from './account-section.ts';
import { assetsSection } from './assets-section.ts';
import { factsSection, nextSection } from './closing-sections.ts';
import { columnsSection } from './columns-section.ts';
import { colours } from './charts.ts';
import { html, inline, type Markup, type Part } from './html.ts';
import { driftSection, profileNotice, unexportedSection } from './list-sections.ts';
import { runSection } from './run-section.ts';
import { script } from './script.ts';
import { style } from './style.ts';
import { cut, timeText } from './text.ts';

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
