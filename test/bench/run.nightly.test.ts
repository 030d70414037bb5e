import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { tinySizes } from '../../bench/harness/sizes.ts';
import { targets } from '../../bench/harness/targets.ts';
import { generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { tempFolder } from '../support/temp-folder.ts';

const run = fileURLToPath(new URL('../../bench/run.ts', import.meta.url));

/** A number as the report groups it: 0.63, 72.3, 429, 1,064. */
const number = String.raw`\d{1,3}(?:,\d{3})*(?:\.\d+)?`;

it('writes what it measured, and a row for everything that is to be reached', { timeout: 300_000 }, async () => {
  const folder = await tempFolder();
  const [out, records] = [join(folder, 'RESULTS.md'), join(folder, 'records.jsonl')];
  writeFileSync(records, generatedRecord('2ZkJqUhGFcY4mGHx5sSnEBvGGx3nM5RAq8bWAqoCwH7f'));
  const program = ['--import', import.meta.resolve('ts-blank-space/register'), run];
  const args = [...program, '--tiny', '--records', records, '--out', out];
  await promisify(execFile)(process.execPath, args);
  const text = readFileSync(out, 'utf8');
  for (const { what, reach } of targets) expect(text).toContain(`| ${what} | ${reach} | `);
  for (const name of tinySizes.round) expect(text).toMatch(new RegExp(`^\\| ${name} \\| ${number} \\| `, 'm'));
  expect(text).toMatch(new RegExp(`^\\| parse, check, flatten \\| ${number} \\| \\d+ % \\|$`, 'm'));
});
