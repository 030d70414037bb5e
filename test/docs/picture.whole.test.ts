import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { demoOutput, drawTerminal, withoutTimes } from '../../docs/draw-demo.ts';

it('the picture of the report is a PNG of less than 300 kB (npm run picture draws it)', () => {
  const picture = readFileSync(new URL('../../docs/report.png', import.meta.url));
  expect(picture.subarray(1, 4).toString()).toBe('PNG');
  expect(picture.length).toBeLessThan(300_000);
  expect(readFileSync(new URL('../../README.md', import.meta.url), 'utf8')).toContain('(docs/report.png)');
});

it('the picture of the README shows what the program prints (npm run docs redraws it)', async () => {
  const picture = readFileSync(new URL('../../docs/demo.svg', import.meta.url), 'utf8');
  expect(withoutTimes(picture)).toBe(withoutTimes(drawTerminal(await demoOutput())));
  expect(picture.length).toBeLessThan(300_000);
}, 60_000);
