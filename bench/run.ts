/**
 * Measures everything and writes `bench/RESULTS.md` and the table of runs in `docs/performance.md`.
 *
 *     npm run bench
 *     npm run bench -- --records FILE  also with the records of a file, one JSON object a line: real ones, of a raw export
 *     npm run bench -- --rounds 3      in less time
 *     npm run bench -- --tiny --out F  shows that it runs; the figures say nothing, and go to F
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { withSections } from '../docs/generated-sections.ts';
import { machineLines } from './harness/machine.ts';
import { measureAll } from './harness/measure-all.ts';
import { reportText } from './harness/report.ts';
import { choiceTable } from './harness/report-tables.ts';
import { tinySizes, usualSizes } from './harness/sizes.ts';

const { values } = parseArgs({
  options: {
    tiny: { type: 'boolean', default: false },
    out: { type: 'string' },
    records: { type: 'string', default: '' },
    rounds: { type: 'string' },
  },
});
if (values.tiny && values.out === undefined) throw new Error('--tiny needs --out: its figures say nothing');
const usual = values.tiny ? tinySizes : usualSizes;
const sizes = { ...usual, rounds: Number(values.rounds ?? usual.rounds) };

// A signal alone runs no exit handlers.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const folder = mkdtempSync(join(tmpdir(), 'asset-export-bench-'));
try {
  const tell = (line: string): boolean => process.stderr.write(`${line}\n`);
  const findings = await measureAll({ sizes, folder, records: values.records, tell });
  const text = reportText(findings, machineLines(new Date()));
  writeFileSync(values.out ?? fileURLToPath(new URL('RESULTS.md', import.meta.url)), text);
  if (values.out === undefined) {
    const paper = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
    const sections = new Map([['runs', choiceTable(findings)]]);
    writeFileSync(paper, withSections(readFileSync(paper, 'utf8'), sections));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
