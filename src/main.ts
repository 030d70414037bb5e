#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { runCommandLine } from './cli/command-line.ts';

// What a run holds at once is small, and V8 would let up to three times as much garbage lie before it looks.
setFlagsFromString('--heap-growing-percent=110');
// Little of what is young is alive: sharing it out among V8's helpers takes longer than looking at it.
setFlagsFromString('--no-parallel-scavenge');

process.exitCode = await runCommandLine(process.argv.slice(2));
