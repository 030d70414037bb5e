/** Renews the generated sections of the docs and the picture of the README: `npm run docs`. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { demoOutput, drawTerminal, withoutTimes } from './draw-demo.ts';
import { tables } from '../src/core/records/columns.ts';
import { columnsDocument } from '../src/wings/warehouse/columns-document.ts';
import { questionsDocument } from '../src/wings/warehouse/analysts/questions.ts';
import { generatedSections, papers, withSections } from './generated-sections.ts';

const sections = await generatedSections();
for (const paper of papers) {
  const path = fileURLToPath(new URL(`../${paper}`, import.meta.url));
  await writeFile(path, withSections(await readFile(path, 'utf8'), sections));
}

// Below its introduction the page is what `schema` prints.
const columnsPath = fileURLToPath(new URL('columns.md', import.meta.url));
const [introduction = ''] = (await readFile(columnsPath, 'utf8')).split('## assets\n');
await writeFile(columnsPath, introduction + columnsDocument(tables));

const questionsPath = fileURLToPath(new URL('questions.md', import.meta.url));
const [opening = ''] = (await readFile(questionsPath, 'utf8')).split('## ');
await writeFile(questionsPath, opening + questionsDocument());

const picturePath = fileURLToPath(new URL('demo.svg', import.meta.url));
const picture = drawTerminal(await demoOutput());
const before = await readFile(picturePath, 'utf8').catch(() => '');
if (withoutTimes(picture) !== withoutTimes(before)) await writeFile(picturePath, picture);
