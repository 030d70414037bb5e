/** Renews the generated sections of the papers: `npm run docs`. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { generatedSections, papers, withSections } from './generated-sections.ts';

const sections = await generatedSections();
for (const paper of papers) {
  const path = fileURLToPath(new URL(`../${paper}`, import.meta.url));
  await writeFile(path, withSections(await readFile(path, 'utf8'), sections));
}
