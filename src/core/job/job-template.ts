import { stringify } from 'yaml';
import { type JobField, jobFields } from './job-fields.ts';

/** What a new job file holds where nothing is given. Its paths start at the file's folder. */
export const suggestedFields: Readonly<Record<string, unknown>> = {
  'ids.from': ['ids/*.txt'],
  'service.url': 'https://service.example',
  'service.apiKeyFile': 'secrets/service-key',
  'service.flags.showFungible': false,
  'service.flags.showCollectionMetadata': false,
  'budget.whenSpent': 'stop',
  'output.dir': 'out/export',
  'output.formats': ['parquet'],
  'output.tables': ['assets'],
  'tolerance.maxFailed': 0,
};

/** Fields that a new job file shows commented out, with their default or an example; all others appear when they are given. */
const commentedOut: ReadonlySet<string> = new Set([
  'ids.column',
  'service.concurrency',
  'budget.creditsPerRun',
  'budget.creditsPerDay',
  'budget.creditsPerSecond',
  'output.rowsPerPart',
  'tolerance.maxMissing',
  'tolerance.maxInvalid',
]);

/** Where a field has no default. */
const examples: Readonly<Record<string, unknown>> = {
  'ids.column': 'mint',
  'budget.creditsPerRun': 160_000,
  'budget.creditsPerDay': 3_000_000,
  'budget.creditsPerSecond': 500,
  'tolerance.maxMissing': '5%',
};

const head = `# yaml-language-server: $schema=./job.schema.json
# asset-export plan job.yaml   prints calls, credits, days and disk; sends nothing
# asset-export run job.yaml    starts the export, or resumes it
# asset-export help job        explains every field
# Relative paths start at this file's folder. \${NAME} comes from the environment.
`;

/** A commented job file that holds the suggested fields and these, by path. @param settled suggested fields to leave out */
export function jobTemplate(given: ReadonlyMap<string, unknown>, settled: ReadonlySet<string> = new Set()): string {
  const suggested = Object.entries(suggestedFields).filter(([path]) => !settled.has(path));
  const values = new Map([...suggested, ...given]);
  const lines = [head];
  let open: readonly string[] = [];
  for (const field of jobFields) {
    if (!values.has(field.path) && !commentedOut.has(field.path)) continue;
    const sections = field.path.split('.').slice(0, -1);
    const same = sections.findIndex((name, depth) => name !== open[depth]);
    if (same === 0 && open.length > 0) lines.push('');
    if (same >= 0) lines.push(...sections.slice(same).map((name, index) => `${indent(same + index)}${name}:`));
    open = sections;
    lines.push(...fieldLines(field, values));
  }
  return `${lines.join('\n')}\n`;
}

function fieldLines({ path, description, defaultValue }: JobField, values: ReadonlyMap<string, unknown>): string[] {
  const names = path.split('.');
  const before = indent(names.length - 1);
  const value = values.has(path) ? values.get(path) : (examples[path] ?? defaultValue ?? '');
  const text = stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trim();
  return [`${before}# ${description}`, `${before}${values.has(path) ? '' : '# '}${names.at(-1) ?? ''}: ${text}`];
}

function indent(depth: number): string {
  return '  '.repeat(depth);
}
