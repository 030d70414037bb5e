import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../lib/export-error.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { sliceNames } from '../../slices/slice-names.ts';
import { exportPaths } from '../../store/export-folder.ts';
import { limitOf } from '../../store/limited.ts';
import { parseManifest } from '../../store/manifest.ts';
import { readObject, namesOf } from '../../objects/small-objects.ts';
import { latestInBucket } from './point-latest.ts';
import type { NightsPlace } from './prune-exports.ts';
import {
  completeNight,
  dayIn,
  type Found,
  noFolder,
  type NightsSurvey,
  pruneMark,
  strangerAmong,
} from './survey-nights.ts';

/** Exports in a bucket. To remove one, its manifest goes first, and a mark goes last. */
export function bucketNights(store: ObjectStore, address: string): NightsPlace {
  return {
    survey: () => surveyBucket(store, address),
    remove: async (name) => {
      const mark = `${name}/${sliceNames.throwingAway}`;
      await store.putNew(mark, { bytes: pruneMark });
      await store.remove([`${name}/${exportPaths.manifest}`]);
      await store.remove((await namesOf(store, `${name}/`)).filter((each) => each !== mark));
      await store.remove([mark]);
    },
  };
}

/** Objects that say that their prefix is an export. */
const ownObjects = [exportPaths.manifest, sliceNames.start, sliceNames.throwingAway];

async function surveyBucket(store: ObjectStore, address: string): Promise<NightsSurvey> {
  const names = await namesOf(store, '');
  if (ownObjects.some((own) => names.includes(own))) throw noFolder(address, 'an export');
  const nights = new Set(
    names.flatMap((name) => {
      const own = ownObjects.find((each) => name.endsWith(`/${each}`));
      const night = own === undefined ? '' : name.slice(0, -own.length - 1);
      // What an export with a base requests is an export within it.
      return own === undefined || night.endsWith(`/${exportPaths.asked}`) ? [] : [night];
    }),
  );
  const found: Found = { complete: [], untouched: [], halfRemoved: [], begun: [] };
  for (const name of nights) {
    const prefix = `${name}/`;
    const own = names.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length));
    await look(store, { name, own }, found);
  }
  return { ...found, latest: await latestInBucket(store) };
}

interface BucketNight {
  readonly name: string;
  /** Its objects. */
  readonly own: readonly string[];
}

async function look(store: ObjectStore, { name, own }: BucketNight, found: Found): Promise<void> {
  const read = (object: string): Promise<Buffer> => readObject(store, `${name}/${object}`);
  if (own.includes(sliceNames.throwingAway)) {
    if (isDeepStrictEqual(await read(sliceNames.throwingAway), pruneMark)) found.halfRemoved.push(name);
    else found.untouched.push({ name, reason: 'an unfinished --fresh' });
    return;
  }
  if (!own.includes(exportPaths.manifest)) {
    found.begun.push((await read(sliceNames.start)).toString());
    found.untouched.push({ name, reason: 'unfinished' });
    return;
  }
  try {
    const content = await read(exportPaths.manifest);
    const manifest = parseManifest(content, `${name}/${exportPaths.manifest}`);
    const known = new Set([exportPaths.manifest, ...exportPaths.companions, ...manifest.files.map(({ path }) => path)]);
    const stranger = strangerAmong(own.filter((each) => !known.has(each) && !each.startsWith(`${exportPaths.run}/`)));
    const day = dayIn(name);
    if (stranger !== undefined) found.untouched.push({ name, reason: `holds another file: ${stranger}` });
    else if (limitOf(manifest.job) !== undefined) found.untouched.push({ name, reason: 'limited to its first ids' });
    else if (day === undefined) found.untouched.push({ name, reason: 'its day is unknown' });
    else found.complete.push(completeNight({ name, day, manifest, content }));
  } catch (error) {
    found.untouched.push({ name, reason: `damaged: ${messageOf(error)}` });
  }
}
