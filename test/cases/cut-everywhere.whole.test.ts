import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { fileBytes } from '../support/run-export.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { type CaseFolder, casesFolder } from './case-folder.ts';
import { runCase } from './run-case.ts';
import { runsAll } from '../support/lane.ts';

const places = runsAll ? 100 : 20;
/** One test a chunk: each sits out the pause of every cut. */
const chunk = 20;
const starts = Array.from({ length: places / chunk }, (_, index) => index * chunk);

it.each(starts)(
  // Promise, Whatever the service does: JSON that is cut at any of a hundred places (sampled)
  `an answer that is cut at any of ${places} places is never believed, and asked for again: from %i`,
  async (start) => {
    const folder = await tempFolder();
    const ids = readFileSync(join(casesFolder, 'ids.txt'), 'utf8').trim().split('\n').slice(0, 10);
    const assets = join(folder, 'assets.jsonl');
    writeFileSync(assets, `${ids.map(generatedRecord).join('\n')}\n`);
    const path = join(folder, 'case');
    mkdirSync(path);
    writeFileSync(join(path, 'ids.txt'), `${ids.join('\n')}\n`);
    const each: CaseFolder = { name: 'cut', path, expected: { about: '', runs: [{ exit: 'complete' }] } };
    const made: Readonly<Record<string, string>>[] = [];
    for (const place of [...Array.from({ length: chunk }, (_, index) => start + index), places]) {
      // The last turn is whole: what the others are compared with.
      const share = place / places;
      writeFileSync(
        join(path, 'faults.yaml'),
        place === places ? 'faults: []' : `faults: [{ fault: cut, afterShare: ${share}, when: { first: 1 } }]`,
      );
      const work = join(folder, String(place));
      mkdirSync(work);
      const [ran] = await runCase(each, { work, assets });
      expect(ran?.error, `cut at ${share}`).toBeUndefined();
      expect(ran?.calls, `cut at ${share}`).toBe(place === places ? 1 : 2);
      made.push(fileBytes(join(work, 'out')));
    }
    for (const bytes of made) expect(bytes).toEqual(made.at(-1));
  },
);
