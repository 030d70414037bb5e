import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type CreditLedger, openDiskLedger } from '../client/credit-ledger.ts';
import type { Job } from '../job/job-schema.ts';
import { systemClock } from '../lib/clock.ts';
import { startService } from '../service/start-service.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import { diskFileStore } from '../store/file-store.ts';
import { readApiKey } from './read-api-key.ts';

/** The service of a run, and where its credits are booked. */
export interface OpenService {
  readonly service: { readonly url: string; readonly apiKey: string };
  readonly ledger: CreditLedger;
  close(): Promise<void>;
}

export interface ServiceChoice {
  readonly job: Job;
  readonly stateDir: string | undefined;
  readonly keyFileFromFlag: boolean;
}

const embedded = 'embedded:';

/** Opens what a job's address names: the service out there, or this program's own on local records. */
export async function openService({ job, stateDir, keyFileFromFlag }: ServiceChoice): Promise<OpenService> {
  if (!job.service.url.startsWith(embedded)) {
    const apiKey = readApiKey({
      file: job.service.apiKeyFile,
      fileFromFlag: keyFileFromFlag,
      environment: process.env,
    });
    const ledger = await openDiskLedger({ stateDir: stateFolder(stateDir), apiKey });
    return { service: { url: job.service.url, apiKey }, ledger, close: () => ledger.close() };
  }
  const apiKey = randomBytes(16).toString('hex');
  const running = await startService({
    assets: [job.service.url.slice(embedded.length)],
    host: '127.0.0.1',
    port: 0,
    apiKeys: [apiKey],
    creditsPerCall: job.budget.creditsPerCall,
    clock: systemClock,
  });
  const runFolder = pathIn(job.output.dir, exportPaths.run);
  await diskFileStore.makeFolder(runFolder);
  // Its credits cost nothing, but a budget is kept as it would be: in the export, across runs, under one name.
  const ledger = await openDiskLedger({ stateDir: runFolder, apiKey: embedded });
  return {
    service: { url: running.url, apiKey },
    ledger,
    close: async () => {
      await ledger.close();
      await running.close();
    },
  };
}

/** Where this user's ledgers are: flag, environment, XDG default. */
function stateFolder(flag: string | undefined): string {
  const chosen = flag ?? process.env['ASSET_EXPORT_STATE'];
  if (chosen !== undefined && chosen !== '') return resolve(chosen);
  const base = process.env['XDG_STATE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.local', 'state') : base, 'asset-export');
}
