import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { keptFolder } from '../../support/temp-folder.ts';
import { freePort } from '../../support/free-port.ts';

/** A server that stands in front of the service, as Debian ships it. */
export interface FrontServer {
  readonly url: string;
  stop(): Promise<void>;
}

export function isInstalled(program: 'nginx' | 'haproxy'): boolean {
  const { status } = spawnSync(program, ['-v'], { env: { ...process.env, PATH: withSbin() } });
  return status === 0;
}

/** @param limits of `location`, and the zones that they name */
export async function startNginx(
  servicePort: number,
  limits: { readonly zones: string; readonly location: string },
): Promise<FrontServer> {
  return start('nginx', (port, folder) => ({
    text: `
worker_processes 1;
daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  ${limits.zones}
  server {
    listen 127.0.0.1:${port};
    location / {
      ${limits.location}
      proxy_pass http://127.0.0.1:${servicePort};
    }
  }
}
`,
    args: (file) => ['-c', file, '-e', join(folder, 'error.log')],
  }));
}

/** @param server limits of the server line */
export async function startHaproxy(servicePort: number, server: string): Promise<FrontServer> {
  return start('haproxy', (port) => ({
    text: `
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  timeout queue 300ms
frontend front
  bind 127.0.0.1:${port}
  default_backend service
backend service
  server one 127.0.0.1:${servicePort} ${server}
`,
    args: (file) => ['-f', file, '-db'],
  }));
}

interface Configuration {
  readonly text: string;
  readonly args: (file: string) => string[];
}

async function start(
  program: string,
  configure: (port: number, folder: string) => Configuration,
): Promise<FrontServer> {
  const { path: folder, remove } = await keptFolder();
  const port = await freePort();
  const { text, args } = configure(port, folder);
  const file = join(folder, `${program}.conf`);
  await writeFile(file, text);
  const child = spawn(program, args(file), {
    env: { ...process.env, PATH: withSbin() },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const gone = new Promise<void>((resolve) =>
    child.once('exit', () => {
      resolve();
    }),
  );
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      (child as ChildProcess).kill('SIGTERM');
      await gone;
      await remove();
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}

function withSbin(): string {
  return `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
}
