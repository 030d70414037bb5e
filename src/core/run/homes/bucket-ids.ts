import { type FindRemote, namePattern, type RemoteFile } from '../../ids/remote-ids.ts';
import type { Job } from '../../job/job-schema.ts';
import { type HomeContext, openStoreAt } from './open-home.ts';

/** Finds ids in buckets. The endpoint of the output is that of ids in an S3-compatible store too. */
export function bucketIds({ output }: Pick<Job, 'output'>, context: Omit<HomeContext, 'files'>): FindRemote {
  return async (address) => {
    const fixed = address.split('*', 1)[0] ?? '';
    // The store is that of the folder around all names that can match.
    const top = fixed.slice(0, fixed.lastIndexOf('/'));
    if (!/^\w+:\/\/[^/]/.test(top)) return [];
    const endpoint = address.startsWith('s3://') ? output.endpoint : undefined;
    const store = await openStoreAt(top, endpoint, context);
    const pattern = namePattern(address.slice(top.length + 1));
    const found: RemoteFile[] = [];
    for await (const { name, bytes } of store.list(fixed.slice(top.length + 1))) {
      if (!pattern.test(name) || name.endsWith('/')) continue;
      found.push({ address: `${top}/${name}`, bytes, read: () => store.read(name) });
    }
    return found.sort((a, b) => (a.address < b.address ? -1 : 1));
  };
}
