#!/usr/bin/env node
import { runCommandLine } from './cli/command-line.ts';
import { keepHeapSmall } from './cli/heap-limits.ts';

keepHeapSmall();

process.exitCode = await runCommandLine(process.argv.slice(2));
