import { describe, expect, it } from 'vitest';
import { loadExport, type LoadRequest } from '../../../src/wings/load/load-export.ts';
import { loadModes } from '../../../src/wings/load/load-record.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases } from './both-databases.ts';
import { localExports, request } from './local-exports.ts';

const server = await postgresOfTests('loads are not tested with a stopped PostgreSQL');
const opened = emptyDatabases(server);
const { exported } = await localExports();
const target = parseTarget(server.address, '/');

describe.skipIf(server.isMissing)('a server that is stopped', () => {
  it.each(loadModes)('before a load with --mode %s is waited for', async (mode) => {
    const folder = await exported(40);
    await opened('postgres');
    await server.crash();
    let nowMs = 0;
    const sleep = async (ms: number): Promise<void> => {
      nowMs += ms;
      if (nowMs >= 20_000 && nowMs - ms < 20_000) await server.restart();
    };
    const loaded = await loadExport(
      { ...request(folder, 'postgres', mode), clock: { now: () => nowMs, monotonic: () => nowMs, sleep } },
      target,
    );
    expect(loaded).toMatchObject({ assets: 40 });
    expect(nowMs).toBeGreaterThanOrEqual(20_000);
  });

  it.each(loadModes)('in the middle of --mode %s: exit 5, and the same load again is whole', async (mode) => {
    const folder = await exported(40);
    await opened('postgres');
    const files: LoadRequest['files'] = {
      ...request(folder, 'postgres').files,
      open: async (path) => {
        const file = await request(folder, 'postgres').files.open(path);
        // The export is verified first: then nothing is read for the load.
        if (path.endsWith('.parquet') && isLoading) await crashOnce();
        return file;
      },
    };
    let isLoading = false;
    let hasCrashed = false;
    const crashOnce = async (): Promise<void> => {
      if (hasCrashed) return;
      hasCrashed = true;
      await server.crash();
    };
    // The clock is looked at when the connection is made.
    const clock = {
      now: () => ((isLoading = true), 0),
      monotonic: () => ((isLoading = true), 0),
      sleep: async () => undefined,
    };
    await expect(loadExport({ ...request(folder, 'postgres', mode), files, clock }, target)).rejects.toMatchObject({
      exit: 'unavailable',
      todo: expect.stringContaining('Run the same command again') as string,
    });
    expect(hasCrashed).toBe(true);
    await server.restart();
    await loadExport(request(folder, 'postgres', mode), target);
    expect(await server.query('SELECT count(*), count(DISTINCT id) FROM assets')).toBe('40|40\n');
  });
});
