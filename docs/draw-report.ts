/** Draws docs/report.png, the top of the demo's report: `npm run picture`. It needs the built program and a browser (CHROME_PATH). */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'asset-export-picture-'));
try {
  for (const command of [
    ['demo', 'demo'],
    ['report', 'demo'],
  ]) {
    execFileSync(process.execPath, [main, ...command], { cwd: folder, stdio: 'ignore' });
  }
  const executablePath = process.env['CHROME_PATH'] ?? '/usr/bin/chromium-headless-shell';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1160, height: 1190 }, colorScheme: 'light' });
  await page.goto(pathToFileURL(join(folder, 'demo/report.html')).href);
  await page.screenshot({ path: fileURLToPath(new URL('report.png', import.meta.url)) });
  await browser.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
