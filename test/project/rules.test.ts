import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** One end of a rule of dependency-cruiser, as far as the rules here use it. */
interface End {
  readonly path?: string;
  readonly pathNot?: string | readonly string[];
}

interface Rule {
  readonly name: string;
  readonly from: End;
  readonly to: End & { readonly circular?: boolean };
}

const { forbidden: rules } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  readonly forbidden: readonly Rule[];
};

const files = ['src', 'packages'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);
const packages = readdirSync(join(root, 'node_modules'))
  .flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(root, 'node_modules', name)).map((own) => `${name}/${own}`) : [name],
  )
  .map((name) => `node_modules/${name}/index.js`);
const importable = [...files, ...packages, ...builtinModules];

function matches({ path = '', pathNot = [] }: End, all: readonly string[]): string[] {
  const nots = [pathNot].flat().map((pattern) => new RegExp(pattern));
  return all.filter((name) => new RegExp(path).test(name) && !nots.some((not) => not.test(name)));
}

/** `src/core/ids/…` is in the room `core/ids`, `src/cli/…` in `cli`; a workspace is a room. */
function roomOf(file: string): string {
  const [, room = '', inner = ''] = file.split('/');
  return room === 'core' || room === 'wings' ? `${room}/${inner}` : room;
}

it('no code decides by the facts of an error, which are for people: `why` is for code', () => {
  const deciding = /\bfacts(?:\?\.)?\[|\.facts\.\w/;
  const isOfError = (line: string): boolean => deciding.test(line) && /error|ExportError/i.test(line);
  const found = files.filter((name) => readFileSync(join(root, name), 'utf8').split('\n').some(isOfError));
  expect(found).toEqual([]);
});

describe('the rules of imports', () => {
  it.each(rules)('$name forbids imports that there could be', ({ from, to }) => {
    expect(matches(from, files)).not.toEqual([]);
    expect(matches(to, importable)).not.toEqual([]);
  });

  it('name rooms and files that there are', () => {
    // `^src/(a|b/c\.ts)…`: each of them.
    const named = rules.flatMap(({ from, to }) =>
      [from, to].flatMap(({ path = '', pathNot = [] }) =>
        [path, ...[pathNot].flat()].flatMap((pattern) =>
          [...pattern.matchAll(/\^src\/\(([^()]+)\)/g)].flatMap(([, names = '']) =>
            names.split('|').filter((name) => !name.includes('$1')),
          ),
        ),
      ),
    );
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((name) => !files.some((file) => new RegExp(`^src/${name}`).test(file)))).toEqual([]);
  });

  it('have each room for a subject', () => {
    const rooms = [...new Set(files.map(roomOf))].filter((name) => !name.endsWith('.ts'));
    const isSubject = (name: string): boolean =>
      rules.some(({ from }) => {
        const subjects = new Set(matches(from, files).map(roomOf));
        // A rule for all rooms but a few says of none what it is for.
        return subjects.has(name) && subjects.size < rooms.length / 2;
      });
    expect(rooms.filter((name) => !isSubject(name))).toEqual([]);
  });
});
