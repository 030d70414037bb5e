import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { laneOf } from '../test/support/lane.ts';

/** A promise to users, written above the test that fails if it is broken: `// Promise, Nothing lost: …`, in a YAML file with `#`. */
export interface TestedPromise {
  readonly group: string;
  readonly text: string;
  /** The file of the test, from the project's folder. */
  readonly file: string;
  /** `npm test` runs some of the cases, or leaves the test out. */
  readonly mark: 'sampled' | 'nightly' | undefined;
}

/** The groups, in the order of the page. */
export const promiseGroups = [
  'Nothing lost',
  'Nothing overspent',
  'Nothing misread',
  'Whatever the service does',
  'Nothing leaked',
  'The first hour',
  'In operation',
];

const root = fileURLToPath(new URL('..', import.meta.url));
const written = /^\s*(?:\/\/|#) Promise, ([^:\n]+): (.+?)( \(sampled\))?$/gm;

/** All promises, by the files of their tests. */
export function testedPromises(): TestedPromise[] {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.test\.ts$|\.yaml$/.test(name))
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .sort();
  return files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(written)].map(([, group = '', text = '', sampled]) => {
      const taken = sampled === undefined ? undefined : 'sampled';
      return { group, text, file, mark: laneOf(file) === 'nightly' ? 'nightly' : taken };
    }),
  );
}

/** The promises as Markdown: a line each, in their groups, that leads to its test. */
export function promisesText(): string {
  const promises = testedPromises();
  return promiseGroups
    .map((group) => {
      const lines = promises
        .filter((each) => each.group === group)
        .map(({ text, file, mark }) => `- [${text}](../${file})${mark === undefined ? '' : ` *${mark}*`}`);
      return [`## ${group}`, '', ...lines].join('\n');
    })
    .join('\n\n');
}
