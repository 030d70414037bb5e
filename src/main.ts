#!/usr/bin/env node
import { tooOld } from './node-version.ts';

// Nothing else is imported before: an old Node.js cannot parse it.
const refusal = tooOld(process.versions.node);
if (refusal === undefined) {
  void import('./cli/process-terminal.ts').then(({ startProgram }) => startProgram());
} else {
  process.stderr.write(refusal);
  process.exitCode = 2;
}
