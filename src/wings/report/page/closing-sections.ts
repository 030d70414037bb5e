import { byteSize, count } from '../../../lib/format-text.ts';
import { proofsText } from '../../../places/export/export-facts.ts';
import type { FilesOfTable, NextStep, ReportData } from '../report-data.ts';
import { html, joined, type Markup } from './html.ts';
import { cut } from './text.ts';

/** Section 7: what to do next. Absent until the export is complete. */
export function nextSection(steps: readonly NextStep[]): Markup {
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
export function factsSection(data: ReportData): Markup {
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
