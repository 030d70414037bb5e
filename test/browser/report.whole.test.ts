import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportPage } from '../../src/wings/report/page/page.ts';
import { dataOf, runMade, tenRecords } from '../wings/report/made-export.ts';
import { questions } from '../wings/report/questions.ts';
import { runProgram } from '../support/run-program.ts';
import { sampled } from '../model/support/sample.ts';
import { runsAll } from '../support/lane.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { findBrowser } from './find-browser.ts';

const program = findBrowser();

/** What the page tests run in the page, as text: the project's types know no document. */
const background = 'getComputedStyle(document.body).backgroundColor';
const axeRun = `axe.run(document, {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] },
}).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 200)))`;

/**
 * How far below the top, or below the place that a link of the page leads to, the smallest element ends whose text matches; null
 * where none does.
 */
function distanceOf(answer: RegExp): string {
  return `(() => {
    const answer = ${String(answer).replace(/^\/\^/, '/')};
    const textOf = (element) => [...walk(element)].join(' ').replace(/\\s+/g, ' ').trim();
    function* walk(node) {
      if (node.nodeType === 3) yield node.data;
      else if (!['SCRIPT', 'STYLE', 'TITLE'].includes(node.tagName)) for (const child of node.childNodes) yield* walk(child);
    }
    const smallest = [...document.querySelectorAll('body, body *')].filter((each) => answer.test(textOf(each))).at(-1);
    if (smallest === undefined) return null;
    const { bottom } = smallest.getBoundingClientRect();
    const places = [...document.querySelectorAll('a[href^="#"]')]
      .map((link) => document.getElementById(link.getAttribute('href').slice(1))?.getBoundingClientRect().top)
      .filter((top) => top !== undefined && top <= bottom);
    return bottom - Math.max(0, ...places);
  })()`;
}

/** `npm test` looks at the narrow page in the dark. */
const views = (runsAll ? [1280, 390] : [390]).flatMap((width) =>
  (runsAll ? (['light', 'dark'] as const) : (['dark'] as const)).map((colorScheme) => ({ width, colorScheme })),
);

describe.skipIf(program === undefined)('the page in a browser', () => {
  let kept: Awaited<ReturnType<typeof keptFolder>>;
  let browser: Browser;
  let server: Server;
  let address: string;
  /** A complete export with all tables, and one that stopped twice. */
  const pages = new Map<string, string>();

  beforeAll(async () => {
    kept = await keptFolder();
    expect((await runProgram(['demo', 'demo'], { cwd: kept.path })).exit).toBe(0);
    pages.set('/demo', reportPage(await dataOf(join(kept.path, 'demo'))));
    const flags = ['--rows-per-part', '3', '--ids-per-call', '3', '--credits-per-run', '160', '--concurrency', '1'];
    const ids = [...tenRecords.map((record) => (record as { readonly id: string }).id), 'no id'];
    for (const expected of [8, 8]) expect((await runMade({ cwd: kept.path, ids, flags })).exit).toBe(expected);
    pages.set('/stopped', reportPage(await dataOf(join(kept.path, 'out'))));
    server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
      const policy = searchParams.has('strict') ? { 'content-security-policy': `sandbox; default-src 'none'` } : {};
      response.writeHead(pages.has(pathname) ? 200 : 404, { 'content-type': 'text/html', ...policy });
      response.end(pages.get(pathname));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] });
  }, 120_000);

  afterAll(async () => {
    await browser.close();
    server.close();
    await kept.remove();
  });

  /** Opens a page and gathers what it complains about and requests. */
  async function opened(path: string, options: BrowserContextOptions = {}) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const complaints: string[] = [];
    const requests: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(address + path);
    return { page, context, complaints, requests };
  }

  describe.each(sampled(['/demo', '/stopped'], 2))('of %s', (path) => {
    it.each(views)('at $width px in $colorScheme fits, complains about nothing and requests nothing', async (view) => {
      const { page, context, complaints, requests } = await opened(path, {
        viewport: { width: view.width, height: 900 },
        colorScheme: view.colorScheme,
      });
      expect(requests).toEqual([address + path]);
      expect(complaints).toEqual([]);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(view.width);
      const shown = await page.evaluate<string>(background);
      expect(shown).toBe(view.colorScheme === 'light' ? 'rgb(245, 247, 249)' : 'rgb(15, 21, 27)');
      await context.close();
    });

    it.each(views)('at $width px in $colorScheme has no violation that axe finds', async (view) => {
      const { page, context } = await opened(path, {
        viewport: { width: view.width, height: 900 },
        colorScheme: view.colorScheme,
        // The page's own policy refuses axe.
        bypassCSP: true,
      });
      await page.evaluate(`document.querySelectorAll('details').forEach((each) => { each.open = true; })`);
      await page.addScriptTag({ content: axe.source });
      const violations = await page.evaluate<string[]>(axeRun);
      expect(violations).toEqual([]);
      await context.close();
    });
  });

  /** Headings, and shapes that are drawn somewhere. */
  function drawn(page: Page): Promise<{ headings: number; shapes: number; bars: number }> {
    return page.evaluate(`(() => {
      const shapes = [...document.querySelectorAll('svg rect, svg path, svg polygon')];
      return {
        headings: document.querySelectorAll('h2').length,
        shapes: shapes.length,
        bars: shapes.filter((shape) => shape.getBoundingClientRect().width > 0.5).length,
      };
    })()`);
  }

  it('is whole where a strict viewer allows neither styles nor scripts', async () => {
    const { page: usual, context } = await opened('/demo');
    const { page: strict, context: other } = await opened('/demo?strict', { javaScriptEnabled: false });
    const [expected, found] = [await drawn(usual), await drawn(strict)];
    expect(found.headings).toBe(8);
    expect(found.shapes).toBe(expected.shapes);
    expect(found.bars).toBeGreaterThanOrEqual(expected.bars);
    // Colours and sizes stand in attributes.
    const exported = strict.locator('rect.exported').first();
    expect((await exported.boundingBox())?.height).toBe(44);
    expect(await strict.evaluate<string>(`getComputedStyle(document.querySelector('rect.exported')).fill`)).toBe(
      'rgb(28, 110, 140)',
    );
    await context.close();
    await other.close();
  });

  it('finds a column, opens all lists, switches the theme and copies a command, by keyboard too', async () => {
    const { page, context, complaints } = await opened('/demo', {
      colorScheme: 'light',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByLabel('Find a column').fill('royalty_b');
    expect(await page.locator('[data-column]:visible').count()).toBe(1);
    expect(await page.locator('#found').textContent()).toBe('1 column');
    await page.getByLabel('Find a column').fill('');
    expect(await page.locator('[data-column]:visible').count()).toBeGreaterThan(80);
    await page.getByRole('button', { name: 'Open all' }).press('Enter');
    expect(await page.locator('#columns details:not([open])').count()).toBe(0);
    const theme = page.locator('#theme');
    expect(await theme.textContent()).toBe('Dark');
    await theme.press('Space');
    expect(await page.evaluate<string>(background)).toBe('rgb(15, 21, 27)');
    expect(await theme.textContent()).toBe('Light');
    await page.getByRole('button', { name: 'Copy: Load into DuckDB' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(
      'asset-export load demo --to duckdb:demo.duckdb',
    );
    await page.locator('nav a').first().focus();
    await page.keyboard.press('Enter');
    expect(page.url()).toBe(`${address}/demo#account`);
    expect(complaints).toEqual([]);
    await context.close();
  });

  describe('answers within two screens of the top or of a heading that a link leads to:', () => {
    const height = 900;
    let page: Page;

    beforeAll(async () => {
      ({ page } = await opened('/demo', { viewport: { width: 1280, height } }));
      await page.evaluate(`document.querySelectorAll('details').forEach((each) => { each.open = true; })`);
    });

    it.each(questions)('%s', async (_, answer) => {
      const found = await page.evaluate<number | null>(distanceOf(answer));
      expect(found).not.toBeNull();
      expect(found ?? Number.POSITIVE_INFINITY).toBeLessThan(2 * height);
    });
  });

  it('prints on at most 15 pages of A4, in light colours', async () => {
    const { page, context } = await opened('/demo', { colorScheme: 'dark' });
    const pdf = await page.pdf({ format: 'A4', margin: { top: '12mm', bottom: '12mm', left: '11mm', right: '11mm' } });
    const count = pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;
    expect(count).toBeGreaterThan(3);
    expect(count).toBeLessThanOrEqual(15);
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate<string>(background)).toBe('rgb(255, 255, 255)');
    await context.close();
  });
});
