import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryLedger } from '../client/memory-ledger.ts';
import type { Job } from '../job/job-schema.ts';
import { systemClock } from '../lib/clock.ts';
import { ExportError } from '../lib/export-error.ts';
import type { Command, CommandArguments } from './command.ts';
import { jobFlagGroups, jobNotes, jobOf, jobWords } from './job-flags.ts';
import type { OpenService } from './open-service.ts';
import { runFlags, runSettings } from './run-flags.ts';
import { runJob } from './run-job.ts';
import { rehearsal } from './summary-text.ts';

/** `rehearse`: the job as it is, against answers that are made up. */
export const rehearseCommand: Command = {
  usage: ['rehearse <job.yaml> [--faults FILE] [flags]', 'rehearse --ids FILE --out DIR [flags]'],
  about:
    "Runs a job with its own ids and settings against this program's own service, which invents the records. The files go to a temporary folder that is removed at the end: no credits, no network, no trace. It never waits for 00:00 UTC: with --when-spent wait it goes on past the credits of a day, and ends where the service says that they are spent.",
  examples: [
    { line: 'rehearse jobs/demo.yaml', about: 'what the run would print' },
    { line: 'rehearse job.yaml --faults faults.yaml', about: 'the same on a bad day of the service (docs/service.md)' },
  ],
  words: { ...jobWords, about: 'job file (YAML); flags alone do too: --ids and --out' },
  groups: [
    {
      title: 'This command',
      flags: [
        { name: 'faults', value: 'FILE', about: 'YAML file of faults that the service is to suffer' },
        {
          name: 'missing-percent',
          value: 'N',
          about: 'share of the ids that the service does not know',
          standard: '1',
        },
        ...runFlags,
      ],
    },
    ...jobFlagGroups(),
  ],
  notes: jobNotes,
  run: (args) => rehearse(args),
};

async function rehearse(args: CommandArguments): Promise<number> {
  const settings = runSettings(args);
  const missingPercent = percentOf(args.text('missing-percent') ?? '1');
  // A job may have no address yet: here it does not matter.
  const { job, idsFolder } = jobOf(args, args.words.length === 0 ? { url: 'embedded:-' } : {});
  const dir = await mkdtemp(join(tmpdir(), 'asset-export-rehearsal-'));
  // However the program ends: a signal that ends it at once runs no `finally`.
  process.once('exit', () => {
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  const open = await openInventedService(job, { faults: args.text('faults'), missingPercent });
  const words = {
    shown: rehearsal,
    next: 'Next: asset-export run, with the same job, spends the credits and keeps the files',
  };
  const rehearsed = { ...job, budget: rehearsedBudget(job.budget), output: { ...job.output, dir } };
  process.stderr.write(
    'A rehearsal: the records are invented, nothing is spent, and the files are removed at the end.\n',
  );
  if (job.budget.whenSpent === 'wait') {
    process.stderr.write('It does not wait for 00:00 UTC as the run would, but goes on past the credits of a day.\n');
  }
  return runJob({ job: rehearsed, idsFolder, fresh: false }, { open, words, secondSignal: 'abort', ...settings });
}

/** Invented credits are no reason to sit out a night. */
function rehearsedBudget(budget: Job['budget']): Job['budget'] {
  const { creditsPerCall, creditsPerDay = creditsPerCall, whenSpent } = budget;
  // A day of less than a call is refused, as the run refuses it.
  if (whenSpent === 'stop' || creditsPerDay < creditsPerCall) return budget;
  return { ...budget, creditsPerDay: undefined, whenSpent: 'stop' };
}

interface Invention {
  readonly faults: string | undefined;
  readonly missingPercent: number;
}

async function openInventedService(job: Job, { faults, missingPercent }: Invention): Promise<OpenService> {
  const { serveAssets } = await import('../service/start-service.ts');
  const { GeneratedStore } = await import('../service/generated-store.ts');
  const { loadFaults } = await import('../service/load-faults.ts');
  const apiKey = randomBytes(16).toString('hex');
  const running = await serveAssets(new GeneratedStore(missingPercent), {
    host: '127.0.0.1',
    port: 0,
    apiKeys: [apiKey],
    creditsPerCall: job.budget.creditsPerCall,
    clock: systemClock,
    ...(faults === undefined ? {} : { faults: await loadFaults(faults) }),
  });
  return {
    service: { url: running.url, apiKey },
    ledger: createMemoryLedger(),
    close: () => running.close(),
  };
}

function percentOf(text: string): number {
  const percent = Number(text);
  if (text.trim() !== '' && percent >= 0 && percent <= 100) return percent;
  throw new ExportError('usage', `--missing-percent: ${text} is not a share from 0 to 100`);
}
