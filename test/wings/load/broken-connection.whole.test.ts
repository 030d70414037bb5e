import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadExport } from '../../../src/wings/load/load-export.ts';
import { type LoadTarget, parseTarget } from '../../../src/wings/load/load-target.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { localExports, request } from './local-exports.ts';

const { isMissing, query, address } = await postgresOfTests('loading into PostgreSQL is not tested');
const { exported } = await localExports();

describe.skipIf(isMissing)('a connection to PostgreSQL', () => {
  /** The same server at another address; the connection breaks when the server has done what this word asks for. */
  async function brokenAt(word: string): Promise<LoadTarget> {
    const folder = new URLSearchParams(address.split('?')[1]).get('host') ?? '';
    const between = createServer((client) => {
      const behind = connect(join(folder, '.s.PGSQL.5432'));
      let breaks = false;
      client.on('data', (bytes) => {
        breaks ||= bytes.includes(word);
        behind.write(bytes);
      });
      behind.on('data', (bytes) => {
        if (breaks) client.destroy();
        else client.write(bytes);
      });
      client.on('close', () => behind.destroy());
      client.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(between, 'listening');
    onTestFinished(() => void between.close());
    return parseTarget(`postgres://tester@127.0.0.1:${(between.address() as AddressInfo).port}/postgres`, '/');
  }

  it.each(['replace', 'scd2'] as const)(
    'that breaks at COMMIT of %s is safe to load again, and the exit code says so',
    async (mode) => {
      const folder = await exported(10, { tables: 'assets' });
      await query('DROP TABLE IF EXISTS assets, _asset_export_loads');
      await expect(loadExport(request(folder, 'postgres', mode), await brokenAt('COMMIT'))).rejects.toMatchObject({
        exit: 'unavailable',
        todo: expect.stringContaining('Run the same command again') as string,
      });
      await loadExport(request(folder, 'postgres', mode), parseTarget(address, '/'));
      expect(await query('SELECT count(*) FROM assets')).toBe('10\n');
      await query('DROP TABLE assets, _asset_export_loads');
    },
  );

  it('that breaks before it keeps nothing', async () => {
    const folder = await exported(10, { tables: 'assets' });
    await query('DROP TABLE IF EXISTS assets');
    await expect(loadExport(request(folder, 'postgres'), await brokenAt('COPY'))).rejects.toMatchObject({
      exit: 'unavailable',
      todo: expect.stringContaining('Rolled back') as string,
    });
    await expect(query('SELECT count(*) FROM assets')).rejects.toThrow('does not exist');
  });

  it('on which the server refuses the COMMIT keeps nothing', async () => {
    const [few, folder] = [await exported(1, { tables: 'assets' }), await exported(10, { tables: 'assets' })];
    await query('DROP TABLE IF EXISTS assets');
    const target = parseTarget(address, '/');
    await loadExport(request(few, 'postgres'), target);
    await query('ALTER TABLE assets ADD one integer DEFAULT 1, ADD UNIQUE (one) DEFERRABLE INITIALLY DEFERRED');
    await expect(loadExport(request(folder, 'postgres'), target)).rejects.toMatchObject({
      exit: 'loadFailed',
      message: expect.stringContaining('duplicate key') as string,
      todo: expect.stringContaining('Rolled back') as string,
    });
    expect(await query('SELECT count(*) FROM assets')).toBe('1\n');
  });

  it('is kept alive while the server works', async () => {
    const setKeepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
    onTestFinished(() => {
      setKeepAlive.mockRestore();
    });
    const folder = await exported(10, { tables: 'assets' });
    await query('DROP TABLE IF EXISTS assets');
    setKeepAlive.mockClear();
    await loadExport(request(folder, 'postgres'), parseTarget(address, '/'));
    expect(setKeepAlive).toHaveBeenCalledWith(true, 60_000);
  });
});
