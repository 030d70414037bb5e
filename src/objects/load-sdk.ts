import { codeOf, ExportError } from '../lib/export-error.ts';

/** The clients of object stores are optional packages. These are the versions that the tests use. */
export const clientPackages = {
  '@aws-sdk/client-s3': '3.1173.0',
  '@azure/identity': '4.13.1',
  '@azure/storage-blob': '12.32.0',
  '@google-cloud/storage': '7.22.0',
} as const;

/**
 * Loads the client of a store.
 * @param what what needs it, for the message
 * @throws {ExportError} `usage` when one of its packages is not installed
 */
export async function loadSdk<T>(
  what: string,
  packages: readonly (keyof typeof clientPackages)[],
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    const [noun, verb] = packages.length === 1 ? ['package', 'is'] : ['packages', 'are'];
    throw new ExportError('usage', `${what} needs the ${noun} ${packages.join(' and ')}, which ${verb} not installed`, {
      todo: `npm install ${packages.map((name) => `${name}@${clientPackages[name]}`).join(' ')}`,
      cause: error,
    });
  }
}
