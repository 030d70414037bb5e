import type { SamplePlan } from './sample-ids.ts';

interface DescribedPlan extends SamplePlan {
  readonly name: string;
  readonly about: string;
}

/** What is in the sample files, with their counts. */
export function sampleReadme(idFiles: readonly DescribedPlan[], records: readonly string[]): string {
  const unverified = records.filter((record) => record.includes('"verified":false') && inUnverified(record)).length;
  return `# Sample data

Ids and records to try the program on without a key. All of it is invented and made by \`npm run data\`, which writes the
same bytes on every machine; names, addresses and hosts belong to nobody.

\`assets.jsonl.gz\` holds ${number(records.length)} records, a JSON object a line: what the service answers. They vary as real records do:
interfaces and members that the specification does not name, contents and supplies that are absent, null or empty, attributes that are
a list, an object or nothing, amounts up to 18446744073709551615, names that are formulas, quotes, line breaks or emoji.
${number(unverified)} of them belong to a collection whose \`verified\` is false.

${tableText([['interface', 'records'], ...interfaceRows(records)])}

The id files name every record once, and more, as lists of ids do. Read in this order:

${tableText([
  ['file', 'read', 'valid', 'invalid', 'duplicate', 'found', 'missing'],
  ...idFiles.map((plan) => countsRow(`\`${plan.name}\``, [plan])),
  countsRow('all', idFiles),
])}

- read = valid + invalid + duplicate, valid = found + missing. Blank lines are not read.
- invalid: keys of 31 and 33 bytes, the look-alikes 0, O, I and l, an id with more text, hexadecimal, cut ids, words.
- duplicate: a repeated valid id, in the same file or a later one.
- missing: valid ids that no record has; \`${'1'.repeat(32)}\` is one.

${idFiles.map(({ name, about }) => `- \`${name}\`: ${about}.`).join('\n')}
`;
}

function countsRow(name: string, plans: readonly SamplePlan[]): string[] {
  const sum = (count: (plan: SamplePlan) => number): string =>
    number(plans.reduce((total, plan) => total + count(plan), 0));
  return [
    name,
    sum(({ found, missing, invalid, duplicate }) => found + missing + invalid + duplicate),
    sum(({ found, missing }) => found + missing),
    sum(({ invalid }) => invalid),
    sum(({ duplicate }) => duplicate),
    sum(({ found }) => found),
    sum(({ missing }) => missing),
  ];
}

interface SampleRecord {
  readonly interface: string;
  readonly grouping?: readonly { readonly verified?: boolean }[];
}

function inUnverified(record: string): boolean {
  const { grouping = [] } = JSON.parse(record) as SampleRecord;
  return grouping.some(({ verified }) => verified === false);
}

function interfaceRows(records: readonly string[]): string[][] {
  const counts = new Map<string, number>();
  for (const record of records) {
    const name = (JSON.parse(record) as SampleRecord).interface;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return sorted.map(([name, count]) => [`\`${name}\``, number(count)]);
}

/** A Markdown table, aligned as the formatter wants it: the first row is the header, all columns but the first are numbers. */
function tableText([header = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => row[column]?.length ?? 0)));
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const lines = [header, rule, ...rows].map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))),
  );
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** With a comma at the thousands, without asking the machine's locale. */
function number(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}
