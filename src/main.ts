#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { runCommandLine } from './cli/command-line.ts';

// What a run holds at once is small, and V8 would let three times as much garbage lie before it looks: a hundred megabytes.
setFlagsFromString('--heap-growing-percent=75');

process.exitCode = await runCommandLine(process.argv.slice(2));
