import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { installLine, loadOptional } from '../../../src/lib/packages/optional-packages.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const s3 = ['@aws-sdk/client-s3'];
const named = '@aws-sdk/client-s3@1.2.3';

/** Folders with the package in them, each as an installer leaves it; those that end in `package.json` are projects. */
async function installed(path: string, ...projects: string[]): Promise<{ base: string; root: string }> {
  const base = await tempFolder();
  const root = join(base, path);
  mkdirSync(root, { recursive: true });
  const manifest = { optionalDependencies: { pg: '^8.23.1' }, peerDependencies: { '@aws-sdk/client-s3': '1.2.3' } };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  for (const project of projects) writeFileSync(join(base, project, 'package.json'), '{}');
  return { base, root };
}

const globalRoot = 'prefix/lib/node_modules/asset-export';

it('peer packages are those that the tests use', () => {
  expect(packageJson.devDependencies).toMatchObject(packageJson.peerDependencies);
});

describe('the line that installs a package', () => {
  it('is global for the Node.js that has the program', async () => {
    const { base, root } = await installed(globalRoot);
    const place = { root, node: join(base, 'prefix/bin/node'), workingFolder: base };
    expect(installLine(s3, place)).toBe(`npm install --global ${named}`);
    expect(installLine([...s3, 'pg'], place)).toBe(`npm install --global ${named} pg@8.23.1`);
  });

  it.each(['lib/node_modules/asset-export', 'node_modules/asset-export'])(
    'names the prefix of another global folder: %s',
    async (path) => {
      const { base, root } = await installed(join("o'ne", path));
      const prefix = `'${join(base, "o'ne").replace("'", `'\\''`)}'`;
      expect(installLine(s3, { root, node: '/usr/bin/node', workingFolder: base })).toBe(
        `npm install --global --prefix ${prefix} ${named}`,
      );
    },
  );

  it('is that of the project which holds the program, from all folders', async () => {
    const { base, root } = await installed('app/node_modules/asset-export', 'app');
    const inside = join(base, 'app/jobs');
    mkdirSync(inside);
    expect(installLine(s3, { root, node: '/usr/bin/node', workingFolder: inside })).toBe(`npm install ${named}`);
    expect(installLine(s3, { root, node: '/usr/bin/node', workingFolder: base })).toBe(
      `npm install --prefix ${join(base, 'app')} ${named}`,
    );
  });

  it('is that of pnpm where pnpm installed it', async () => {
    const { base, root } = await installed('app/node_modules/.pnpm/asset-export@1/node_modules/asset-export', 'app');
    expect(installLine(s3, { root, node: '/usr/bin/node', workingFolder: base })).toBe(
      `pnpm add --dir ${join(base, 'app')} ${named}`,
    );
  });

  it('of a clone is the one that installs all of its packages', async () => {
    const { base, root } = await installed('clone');
    const line = 'npm ci --include=dev --include=optional';
    expect(installLine(s3, { root, node: '/usr/bin/node', workingFolder: join(root, '.') })).toBe(line);
    expect(installLine(s3, { root, node: '/usr/bin/node', workingFolder: base })).toBe(
      `npm ci --prefix ${root} --include=dev --include=optional`,
    );
  });

  it('says who runs it where this user may not write: in an image, for example', async () => {
    const root = '/proc/self/node_modules/asset-export';
    expect(() => installLine([], { root, node: '/usr/bin/node', workingFolder: '/' })).not.toThrow();
    expect(installLine([], { root, node: '/usr/bin/node', workingFolder: '/' })).toContain(
      `\nRun it as a user who may write to ${dirname(root)}; in an image, as a RUN line of its Dockerfile.`,
    );
  });
});

describe('a package that cannot be loaded', () => {
  it('is not installed, or half of it: both are exit 2 with the line that installs it', async () => {
    const broken = await tempFolder();
    mkdirSync(join(broken, 'node_modules/half'), { recursive: true });
    writeFileSync(join(broken, 'node_modules/half/index.js'), `require('its-own-part');`);
    writeFileSync(join(broken, 'node_modules/half/package.json'), '{"main": "index.js"}');
    writeFileSync(join(broken, 'half.mjs'), `import 'half';`);
    writeFileSync(join(broken, 'none.mjs'), `import 'none-of-it';`);
    const of = (name: string, file: string) =>
      loadOptional({
        what: 'a test',
        packages: [name],
        instead: 'Or do without.',
        load: () => import(/* @vite-ignore */ join(broken, file)) as Promise<unknown>,
      });
    await expect(of('none-of-it', 'none.mjs')).rejects.toMatchObject({
      exit: 'usage',
      message: 'a test needs the package none-of-it, which is not installed',
      todo: `${installLine(['none-of-it'])}\nOr do without.`,
    });
    await expect(of('half', 'half.mjs')).rejects.toMatchObject({
      exit: 'usage',
      message: expect.stringMatching(
        /^a test needs the package half, which is not completely installed \(Cannot find .*its-own-part.*\)$/,
      ) as string,
    });
  });

  it('and throws something else is a bug, and stays one', async () => {
    const load = () => Promise.reject(new TypeError('of its own'));
    await expect(loadOptional({ what: 'a test', packages: [], load })).rejects.toThrow(TypeError);
  });
});
