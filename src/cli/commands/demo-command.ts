import { fileURLToPath } from 'node:url';
import { loadJob } from '../../core/job/load-job.ts';
import { packageRoot } from '../../lib/packages/package-root.ts';
import { commandLine, shownPath } from '../../lib/addresses/shown-text.ts';
import type { Command } from '../command.ts';
import { openServiceFor } from '../run-context.ts';
import { runFlags, runSettings } from '../job-flags.ts';
import { runJob } from './run-job.ts';
import { nextText } from '../output/summary-text.ts';

/** In this package, with the sample data that it names. */
const demoJob = fileURLToPath(new URL('jobs/demo.yaml', packageRoot));
const defaultFolder = 'asset-export-demo';

/** Whoever pipes it reads its words, not a log. */
const logLevel = 'error';

/** `demo`: the sample export, from what is installed. */
export const demoCommand: Command = {
  usage: ['demo [DIR] [flags]'],
  about:
    'Exports 3,130 sample ids to Parquet, CSV and JSONL. The records come from this package: no key, no network, no credits.',
  examples: [
    { line: `demo my-demo`, about: 'writes to ./my-demo' },
    { line: 'demo', about: `writes to ./${defaultFolder}` },
    { line: `serve --assets ${defaultFolder}`, about: 'afterwards: serves the sample records locally' },
  ],
  words: { name: '[DIR]', about: `output folder [${defaultFolder}]`, least: 0, most: 1 },
  groups: [
    {
      title: 'Flags',
      flags: runFlags.map((flag) => (flag.name === 'log-level' ? { ...flag, standard: logLevel } : flag)),
    },
  ],
  run: async (args) => {
    const settings = runSettings(args, logLevel);
    const folder = args.terminal.cwd();
    const { job, idsFolder } = loadJob({
      file: demoJob,
      flags: { out: args.words[0] ?? defaultFolder },
      // A variable of the reader's own jobs changes nothing here.
      environment: {},
      folder,
    });
    const shown = shownPath(job.output.dir, folder);
    const next = [
      nextText(shown),
      `      ${commandLine('load', shown, '--to', 'duckdb:demo.duckdb')}`,
      '      asset-export init, for your own data',
    ];
    const open = await openServiceFor(job, args, { abort: settings.signals.abort });
    return runJob({ job, idsFolder, fresh: false }, { open, words: { shown, next: next.join('\n') }, ...settings });
  },
};
