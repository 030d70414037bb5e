import type { Job } from '../../job/job-schema.ts';
import { duration, plural } from '../../../lib/format-text.ts';
import { type GetContext, getAssets } from '../get-assets.ts';
import type { Fact } from './fact.ts';

/** Requests one id, which costs one call where the service answers. @throws {ExportError} as a run does */
export async function checkCall(job: Job, id: string | undefined, context: GetContext): Promise<Fact> {
  if (id === undefined) return { fact: 'nothing was requested', warnings: ['no id was read'] };
  const { clock } = context;
  const beganMs = clock.monotonic();
  const fates = getAssets({ ids: [id], job }, context);
  const { value } = await fates.next();
  await fates.return();
  if (value === undefined) throw new Error('an id has a fate');
  const { lookup } = value;
  const fact = `${id} was requested: answered in ${duration(clock.monotonic() - beganMs)}, ${plural(job.budget.creditsPerCall, 'credit')}`;
  return { fact, warnings: lookup.kind === 'found' ? [] : [`it is ${lookup.kind}: ${lookup.reason}`] };
}
