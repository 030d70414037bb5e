import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { ExportStatus } from '../../src/pipeline/export-status.ts';
import { startGeneratedService } from '../support/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { runProgram, startProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

it('status tells what a run holds in memory while it runs, and nothing of it is left behind', async () => {
  const folder = await tempFolder();
  let goOn: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  const service = await startGeneratedService({
    at: (point, { number }) => (point === 'received' && number === 3 ? held : undefined),
  });
  onTestFinished(() => service.stop());
  await writeIdFile(join(folder, 'ids.txt'), { entries: 60 });
  const out = join(folder, 'out');
  const args = ['--ids', 'ids.txt', '--url', service.url, '--out', 'out', '--ids-per-call', '10', '--concurrency', '1'];
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
  const run = startProgram(['run', ...args, '--format', 'csv'], { cwd: folder, environment });
  let memory: ExportStatus['memory'] = null;
  while (memory === null && run.child.exitCode === null) {
    const { stdout } = await runProgram(['status', out, '--json']);
    memory = (JSON.parse(stdout) as Partial<ExportStatus>).memory ?? null;
  }
  expect(memory).toEqual({ bytesInFlight: expect.any(Number) as number, callsHeldBack: false });
  expect(memory?.bytesInFlight).toBeGreaterThan(1000);
  expect((await runProgram(['status', out])).stdout).toContain('of ids and answers, in flight or not yet written');
  goOn();
  expect(await run.ended).toMatchObject({ exit: 0 });
  expect(existsSync(join(out, '.run'))).toBe(false);
  expect(JSON.parse((await runProgram(['status', out, '--json'])).stdout)).toMatchObject({ memory: null });
});
