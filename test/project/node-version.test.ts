import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { oldestNode, tooOld } from '../../src/node-version.ts';

const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };

it('is that of package.json', () => {
  expect(engines.node).toBe(`>=${oldestNode}`);
});

it.each(['12.22.12', '16.20.2', '18.20.8', '20.0.0', '20.18.3'])('%s is too old', (version) => {
  expect(tooOld(version)).toContain(`needs Node.js 20.19 or newer; this is ${version}`);
});

it.each(['20.19.0', '20.20.1', '22.0.0', '24.11.0', process.versions.node])('%s is not', (version) => {
  expect(tooOld(version)).toBeUndefined();
});

it('main.ts imports it alone before it looks', () => {
  for (const [file, imported] of [
    ['src/main.ts', ['./node-version.ts']],
    ['src/node-version.ts', []],
  ] as const) {
    const text = readFileSync(file, 'utf8');
    expect([...text.matchAll(/^import .*'(.*)';$/gm)].map(([, name]) => name)).toEqual(imported);
  }
});
