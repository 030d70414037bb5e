import type { Job } from '../core/job/job-schema.ts';
import { isBucketAddress } from '../lib/addresses/address-kinds.ts';
import { type HomeContext, openStoreAt } from '../core/run/homes/open-home.ts';

/**
 * Loads the optional packages that a job needs: those of its buckets and of its database.
 * @returns what needs them
 * @throws {ExportError} `usage`, with the line that installs them
 */
export async function loadJobPackages(job: Job, context: Omit<HomeContext, 'files'>): Promise<string[]> {
  const addresses = [job.output.dir, ...job.ids.from, job.base.from ?? ''].filter(isBucketAddress);
  const schemes = new Map(addresses.map((address) => [address.slice(0, address.indexOf(':')), address]));
  for (const [scheme, address] of schemes) {
    const endpoint = scheme === 's3' ? job.output.endpoint : undefined;
    const [fixed = ''] = address.split('*');
    await openStoreAt(fixed, endpoint, context);
  }
  const users = [...schemes.keys()].map((scheme) => `${scheme}://`);
  if (job.fleet.database === undefined) return users;
  await (await import('../wings/fleet/index.ts')).requirePg();
  // The slices of a fleet lie in a bucket, and its queue in the database.
  if (isBucketAddress(job.output.dir)) await (await import('../wings/fleet/index.ts')).requireQueue();
  return [...users, 'fleet.database'];
}
