import { readFileSync } from 'node:fs';
import { codeOf, ExportError } from '../lib/export-error.ts';

const variable = 'ASSET_EXPORT_API_KEY';

export interface KeySources {
  /** Path of the key file, from the flag or the job. */
  readonly file: string | undefined;
  /** True when the path came from a flag, which wins over the environment. */
  readonly fileFromFlag: boolean;
  readonly environment: Record<string, string | undefined>;
}

/**
 * The API key: a file named by a flag, else the environment, else the job's file. It is taken out of the environment,
 * so that nothing this process starts inherits it.
 * @throws {ExportError} `usage` when there is none, without showing what was read
 */
export function readApiKey({ file, fileFromFlag, environment }: KeySources): string {
  const fromEnvironment = environment[variable];
  Reflect.deleteProperty(environment, variable);
  if (fromEnvironment !== undefined && fromEnvironment.trim() !== '' && !(fileFromFlag && file !== undefined)) {
    return fromEnvironment.trim();
  }
  if (file === undefined) {
    throw new ExportError('usage', 'there is no API key', {
      todo: `Put the key into a file and name it with --api-key-file, or into the environment variable ${variable}. To try without a key: --url embedded:data/assets.jsonl.gz`,
    });
  }
  const key = keyIn(file).trim();
  if (key === '') throw new ExportError('usage', `the key file ${file} is empty`, { todo: 'Put the API key into it.' });
  return key;
}

function keyIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'it does not exist' : (codeOf(error) ?? 'unknown error');
    throw new ExportError('usage', `cannot read the key file ${file}: ${why}`, {
      todo: 'Check service.apiKeyFile or --api-key-file, and that this user may read it.',
    });
  }
}
