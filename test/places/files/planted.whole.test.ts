import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSmallText } from '../../../src/lib/disk/on-disk.ts';
import { localDisk, type Disk } from '../../../src/places/files/disk.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { runExport } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('what is planted at the name of a file', () => {
  it('a pipe and a device are refused, and not waited for', async () => {
    const pipe = join(await tempFolder(), 'pipe');
    execFileSync('bash', ['-c', 'mkfifo "$0"', pipe]);
    for (const path of [pipe, '/dev/zero']) {
      const refused = { exit: 'cannotWrite', message: expect.stringContaining('a pipe or a device') as string };
      for (const mode of ['read', 'update', 'create'] as const)
        await expect(localDisk.open(path, mode)).rejects.toMatchObject(refused);
      await expect(localDisk.readAll(path)).rejects.toMatchObject(refused);
    }
    expect(() => readSmallText('/dev/zero')).toThrow('it is a device');
    expect(readSmallText(pipe)).toBe('');
  });

  it('a pipe whose writer ends it is read as a text', async () => {
    const script = `import { readSmallText } from '${join(process.cwd(), 'src/lib/disk/on-disk.ts')}'; process.stdout.write(readSmallText(process.argv[1]))`;
    const line = 'node --import ts-blank-space/register --input-type=module -e "$0" <(sleep 0.1; echo key)';
    expect(execFileSync('bash', ['-c', line, script], { encoding: 'utf8' })).toBe('key\n');
  });

  it.each(['.run/lock', 'csv/assets/part-00000.csv', 'manifest.json', '.run/start.json', '.run/log/00000/000000.json'])(
    'a pipe, a device or a link to nothing is refused, or removed, and not waited for: %s',
    async (name) => {
      const folder = await tempFolder();
      const ids = join(folder, 'ids.txt');
      await writeIdFile(ids, { entries: 30 });
      const service = await startGeneratedService();
      onTestFinished(() => service.stop());
      for (const [at, [command = '', ...words]] of [
        ['mkfifo'],
        ['ln', '-s', '/dev/zero'],
        ['ln', '-s', 'nowhere'],
      ].entries()) {
        const out = join(folder, `out-${at}`);
        mkdirSync(dirname(join(out, name)), { recursive: true });
        mkdirSync(join(out, '.run/unfinished'), { recursive: true });
        execFileSync(command, [...words, join(out, name)]);
        const run = runExport({ flags: { ids, url: service.url, out, format: 'csv' } });
        const { error } = await run.catch((reason: unknown) => ({ error: reason }));
        if (error !== undefined)
          expect(error, `${at}`).toMatchObject({
            exit: expect.stringMatching(/^(cannotWrite|damaged|usage)$/) as string,
          });
      }
    },
  );

  it('a link is never written through, whatever name of an export it has', async () => {
    const folder = await tempFolder();
    const ids = join(folder, 'ids.txt');
    await writeIdFile(ids, { entries: 30 });
    const service = await startGeneratedService();
    onTestFinished(() => service.stop());
    const written = new Set<string>();
    const noting: Disk = {
      ...localDisk,
      open: (path, mode) => {
        if (mode !== 'read') written.add(path);
        return localDisk.open(path, mode);
      },
    };
    const run = (out: string, files = localDisk) =>
      runExport({ flags: { ids, url: service.url, out, format: 'csv' }, context: { files } });
    const first = join(folder, 'first');
    await run(first, noting);
    const names = [...written].map((path) => path.slice(first.length + 1));
    expect(names).toContain('.run/runs.jsonl');
    for (const [at, name] of names.entries()) {
      const out = join(folder, `out-${at}`);
      const victim = join(folder, `victim-${at}`);
      writeFileSync(victim, 'mine');
      mkdirSync(dirname(join(out, name)), { recursive: true });
      symlinkSync(victim, join(out, name));
      await run(out).catch(() => undefined);
      expect(readFileSync(victim, 'utf8'), name).toBe('mine');
    }
  });
});
