// Within a network of its own, where a resolver answers nothing: starts a program, and prints its pid, then how it ended. The end
// of its stdin ends the program, too.
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const resolver = createSocket('udp4').bind(53, '127.0.0.1');
await once(resolver, 'listening');
resolver.once('message', () => process.stdout.write(`${child.pid}\n`));
const [file = '', ...args] = process.argv.slice(2);
const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'inherit'] });
process.stdin.on('end', () => child.kill('SIGKILL')).resume();
const [code, signal] = await once(child, 'exit');
process.stdout.write(`${code ?? signal}\n`);
resolver.close();
process.stdin.destroy();
