import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeIdFile } from '../../support/id-file.ts';
import { programCommand } from '../../support/run-program.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { startStopwatch } from '../../support/stopwatch.ts';

const alone = ['--user', '--map-root-user', '--mount', '--net', '--kill-child', '--fork', 'sh', '-c'];
const within = `ip link set lo up && mount --bind "$0" /etc/resolv.conf && exec "$@"`;
const hasNetworks = spawnSync('unshare', [...alone, within, '/dev/null', 'true']).status === 0;
if (!hasNetworks) console.warn('a resolver that does not answer is not tested: processes get no network of their own');

const wrapper = fileURLToPath(new URL('silent-resolver.mjs', import.meta.url));

const bucket = ['--out', 's3://bucket/out', '--out-endpoint', 'https://store.example'];
const job = ['--ids', 'ids.txt', '--url', 'http://127.0.0.1:9', ...bucket];

// `process.exit` waits for the system's resolver, which tries ten seconds and longer.
describe.runIf(hasNetworks)('while no resolver answers', () => {
  it.each([
    { graceMs: 500, signals: 1 },
    { graceMs: 60_000, signals: 2 },
  ])(
    // Promise, Nothing lost: A silent resolver holds no run beyond `--grace-ms` after a signal
    '$signals x SIGTERM ends a run that looks for its bucket',
    async ({ graceMs, signals }) => {
      const folder = await tempFolder();
      await writeIdFile(join(folder, 'ids.txt'), { entries: 10 });
      const resolver = join(folder, 'resolv.conf');
      writeFileSync(resolver, 'nameserver 127.0.0.1\n');
      const program = programCommand(['run', ...job, '--grace-ms', String(graceMs)]);
      const child = spawn('unshare', [...alone, within, resolver, process.execPath, wrapper, ...program], {
        cwd: folder,
        env: {
          PATH: process.env['PATH'],
          HOME: folder,
          AWS_ACCESS_KEY_ID: 'key',
          AWS_SECRET_ACCESS_KEY: 'secret',
          AWS_REGION: 'us-east-1',
          ASSET_EXPORT_API_KEY: 'key',
          ASSET_EXPORT_SCRATCH: join(folder, 'scratch'),
        },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      onTestFinished(() => void child.stdin.end());
      let stderr = '';
      child.stderr.on('data', (text) => (stderr += String(text)));
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const pid = Number((await lines.next()).value);
      const ms = startStopwatch(pid);
      for (let sent = 0; sent < signals; sent += 1) {
        process.kill(pid, 'SIGTERM');
        await delay(300);
      }
      // What a shell shows as 143, too.
      const end = String((await lines.next()).value);
      expect(ms(), stderr).toBeLessThan(2500);
      expect(['143', 'SIGTERM'], stderr).toContain(end);
    },
    60_000,
  );
});
