import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { reportPage } from '../../../src/wings/report/page/page.ts';
import { runHere } from '../../support/run-here.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { dataOf } from './made-export.ts';
import { questions } from './questions.ts';
import { readPage } from './read-page.ts';

let text: string;

beforeAll(async () => {
  const kept = await keptFolder();
  expect((await runHere(['demo', 'demo'], { cwd: kept.path })).exit).toBe(0);
  text = readPage(reportPage(await dataOf(join(kept.path, 'demo')))).text;
  return () => kept.remove();
}, 60_000);

it.each(questions)('the page answers: %s', (_, answer) => {
  expect(text).toMatch(answer);
});
