import type { CreditLedger } from '../core/client/ledger/credit-ledger.ts';
import type { LedgerOf } from '../core/client/ledger/ledger-file.ts';
import { embedded, isEmbedded, type Job } from '../core/job/job-schema.ts';
import { localFolder } from '../core/run/homes/export-place.ts';
import { thenCleanUp } from '../lib/end-work.ts';
import { ExportError } from '../lib/export-error.ts';
import { exportPaths, pathIn } from '../places/export/export-folder.ts';
import { diskLedger, embeddedKey, type ServiceChoice, stateFolder } from './open-service.ts';
import { dialectOf } from '../core/job/job-dialect.ts';
import { keyFor, ledgerKey } from './read-api-key.ts';

type Looked = Pick<ServiceChoice, 'env' | 'cwd' | 'stateDir' | 'keyFileFromFlag'>;

/**
 * What is booked for a job, read without changing it; undefined where there is no usable key to look it up by.
 * @param onMissing told why there is no key
 */
export function bookedFor(
  job: Job,
  looked: Looked,
  onMissing: (why: ExportError) => void = () => undefined,
): Pick<CreditLedger, 'booked'> | undefined {
  const isLocal = isEmbedded(job.service.url);
  const apiKey = isLocal ? embedded : keyIfAny(job, looked, onMissing);
  if (apiKey === undefined) return undefined;
  const { database } = job.fleet;
  const account = isLocal ? undefined : job.budget.account;
  if (database !== undefined) {
    const key = isLocal ? embeddedKey(job) : apiKey;
    return {
      booked: async (day) => {
        const { readFleetLedger } = await import('./fleet-budget.ts');
        const read = async (which: LedgerOf) =>
          (await readFleetLedger(database, which)).find((each) => each.day === day)?.credits;
        // A run that uses an account for the first time takes over what the key has booked.
        return (await read({ apiKey: key, account })) ?? (await read({ apiKey: key })) ?? 0;
      },
    };
  }
  const stateDir = isLocal ? pathIn(localFolder(job), exportPaths.run) : stateFolder(looked.stateDir, looked);
  return {
    booked: async (day) => {
      const { ledgerFiles } = await import('../core/client/ledger/ledger-file.ts');
      const { ledgerName } = await import('../core/client/ledger/ledger-file.ts');
      const names = [ledgerName({ apiKey }), ledgerName({ apiKey, account })];
      const days = await ledgerFiles(stateDir);
      if (!days.some((each) => each.day === day && names.includes(each.ledger))) return 0;
      const ledger = await diskLedger({ stateDir, apiKey, account });
      return thenCleanUp({ work: () => ledger.booked(day), cleanUp: [() => ledger.close()] });
    },
  };
}

/** A plan needs no key. */
function keyIfAny({ service }: Job, looked: Looked, onMissing: (why: ExportError) => void): string | undefined {
  const { env: environment, cwd, keyFileFromFlag: fileFromFlag } = looked;
  try {
    const sources = { file: service.apiKeyFile, fileFromFlag, environment, cwd: cwd() };
    return ledgerKey(keyFor(dialectOf(service.dialect), sources), service.url);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    onMissing(error);
    return undefined;
  }
}
