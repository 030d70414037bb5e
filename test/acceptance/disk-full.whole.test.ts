import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifyExport } from '../../src/exports/verify-export.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { startGeneratedService } from '../support/service/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { fileBytes } from '../support/run-export.ts';
import { runHere } from '../support/run-here.ts';
import { runProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

// Promise, Nothing lost: After a full disk (exit 7) the same command finishes
it('a disk that takes no more ends the program with 7, and with room again the same command finishes', async () => {
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 400 });
  const service = await startGeneratedService({ missingPercent: 3 });
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
  const command = (out: string): string[] => [
    ...['run', '--ids', 'ids.txt', '--url', service.url, '--out', out, '--format', 'csv,jsonl'],
    ...['--ids-per-call', '20', '--rows-per-part', '150'],
  ];
  const confined = { cwd: folder, environment, largestFile: 200 };
  const { exit, stderr } = await runProgram(command('out'), confined);
  expect(exit, stderr).toBe(7);
  expect(stderr).toContain('EFBIG');
  expect(stderr).toContain('run the same command again');
  expect(stderr).not.toContain('    at ');
  const sent = service.counts().calls;
  const last = await runHere([...command('out'), '--threads', '1'], { cwd: folder, environment });
  expect(last.exit, last.stderr).toBe(0);
  // The answers that could still be written were kept.
  expect(service.counts().calls - sent).toBeLessThan(20);
  await runHere([...command('calm'), '--threads', '1'], { cwd: folder, environment });
  await service.stop();
  expect((await verifyExport(localDisk, join(folder, 'out'))).damage).toEqual([]);
  expect(fileBytes(join(folder, 'out'))).toEqual(fileBytes(join(folder, 'calm')));
});
