import { readSmallText } from '../lib/disk/on-disk.ts';
import { basename } from 'node:path';
import { type ServiceDialect, takesKey } from '../core/client/dialects.ts';
import { keyProblem, onlyTheKey } from '../core/client/wire/service-address.ts';
import { codeOf, ExportError } from '../lib/export-error.ts';
import { shownPath } from '../lib/addresses/shown-text.ts';

const variable = 'ASSET_EXPORT_API_KEY';

export interface KeySources {
  /** Path of the key file, from the flag or the job. */
  readonly file: string | undefined;
  /** True when the path came from a flag, which wins over the environment. */
  readonly fileFromFlag: boolean;
  readonly environment: Record<string, string | undefined>;
  /** The folder to which paths in messages are relative. */
  readonly cwd: string;
}

/**
 * The API key: a file named by a flag, else the environment, else the job's file. It is taken out of the environment,
 * so that nothing this process starts inherits it.
 * @throws {ExportError} `usage` when there is none, without showing what was read
 */
export function readApiKey(sources: KeySources): string {
  return checkedKey(findApiKey(sources));
}

/** The key of a service, empty for a dialect that takes none. @throws {ExportError} `usage` as `readApiKey` */
export function keyFor(dialect: ServiceDialect, sources: KeySources): string {
  if (takesKey(dialect)) return readApiKey(sources);
  requireNoKey(sources, dialect);
  return '';
}

/** Who a ledger is of: without a key the address stands for it. */
export function ledgerKey(apiKey: string, url: string): string {
  return apiKey === '' ? new URL(url).origin : apiKey;
}

/** @throws {ExportError} `usage` when there is a key for a service that takes none: it would be sent nowhere, or to a stranger */
function requireNoKey({ file, environment }: KeySources, { name }: ServiceDialect): void {
  const place =
    file === undefined ? ((environment[variable] ?? '') === '' ? undefined : variable) : 'service.apiKeyFile';
  if (place === undefined) return;
  throw new ExportError('usage', `services of the dialect ${name} take no key, and ${place} names one`, {
    todo: `Leave out --api-key-file, and unset ${variable}.`,
  });
}

/** @throws {ExportError} `usage` when it cannot be a key; it is not shown */
export function checkedKey({ place, key }: { readonly place: string; readonly key: string }): string {
  const problem = keyProblem(key);
  if (problem === undefined) return key;
  throw new ExportError('usage', `the API key in ${place} ${problem}`, { todo: onlyTheKey });
}

/** Where a key was found, and what stands there, right or wrong. @throws {ExportError} `usage` when there is none */
export function findApiKey({ file, fileFromFlag, environment, cwd }: KeySources): {
  readonly place: string;
  readonly key: string;
} {
  const fromEnvironment = environment[variable]?.trim() ?? '';
  takeKeyAway(environment);
  if (fromEnvironment !== '' && !(fileFromFlag && file !== undefined)) return { place: variable, key: fromEnvironment };
  if (file === undefined) {
    throw new ExportError('usage', 'no API key given', {
      todo: `Put the key into a file and name it with --api-key-file, or set the environment variable ${variable}. To try without a key, run asset-export demo, then use --url embedded:asset-export-demo.`,
    });
  }
  const key = keyIn(file, cwd).trim();
  const place = shownPath(file, cwd);
  if (key === '')
    throw new ExportError('usage', `the key file ${place} is empty`, { todo: 'Put the API key into it.' });
  return { place, key };
}

/** Removes the key, so that child processes do not inherit it. */
export function takeKeyAway(environment: Record<string, string | undefined>): void {
  Reflect.deleteProperty(environment, variable);
}

function keyIn(file: string, cwd: string): string {
  try {
    return readSmallText(file);
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'it does not exist' : (codeOf(error) ?? 'unknown error');
    // A key given in place of a file name must not appear in a log.
    const shown = /^[\w-]{20,}$/.test(basename(file)) ? 'that is named' : shownPath(file, cwd);
    throw new ExportError('usage', `cannot read the key file ${shown}: ${why}`, {
      todo: 'service.apiKeyFile or --api-key-file must name a readable file with the key in it, not the key itself.',
    });
  }
}
