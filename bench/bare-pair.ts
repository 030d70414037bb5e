/**
 * Two bare loops at once, each over the same ids, as processes of their own: what a second core is worth on this machine,
 * with the load server on the same cores.
 *
 *     node --import ts-blank-space/register bench/bare-pair.ts ADDRESS IDS-FILE CALLS-AT-ONCE
 *
 * Prints how many records there were in both.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { nodeArguments } from './harness/measured-child.ts';

const run = promisify(execFile);
const command = nodeArguments({ program: 'bare-loop.mjs', args: process.argv.slice(2) });
const both = await Promise.all([1, 2].map(() => run(process.execPath, command)));
process.stdout.write(`${both.reduce((sum, { stdout }) => sum + Number(stdout), 0)}\n`);
