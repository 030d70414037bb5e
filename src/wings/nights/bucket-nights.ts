import type { Clock } from '../../lib/clock.ts';
import { type ObjectStore, namesOf, readObject, storeWithin } from '../../places/objects/object-store.ts';
import { mayLive, readBeat } from '../../places/log/heartbeat.ts';
import { sliceNames } from '../../places/log/slice-log.ts';
import { exportPaths } from '../../places/export/export-folder.ts';
import { latestInBucket } from './point-latest.ts';
import type { NightsPlace } from './prune-exports.ts';
import { noFolder, type NightsSurvey, exportFiles, pruneMark, type SeenNight, surveyOf } from './survey-nights.ts';

/** Exports in a bucket. To remove one, its manifest goes first, and a mark goes last. */
export function bucketNights(store: ObjectStore, address: string, clock: Pick<Clock, 'now'>): NightsPlace {
  return {
    survey: () => surveyBucket(store, address, clock),
    remove: async (name) => {
      const mark = `${name}/${sliceNames.throwingAway}`;
      await store.putNew(mark, { bytes: pruneMark });
      await store.remove([`${name}/${exportPaths.manifest}`]);
      await store.remove((await namesOf(store, `${name}/`)).filter((each) => each !== mark));
      await store.remove([mark]);
    },
  };
}

async function surveyBucket(store: ObjectStore, address: string, clock: Pick<Clock, 'now'>): Promise<NightsSurvey> {
  const names = await namesOf(store, '');
  if (exportFiles.some((own) => names.includes(own))) throw noFolder(address, 'an export');
  const nights = new Set(
    names.flatMap((name) => {
      const own = exportFiles.find((each) => name.endsWith(`/${each}`));
      const night = own === undefined ? '' : name.slice(0, -own.length - 1);
      // What an export with a base requests is an export within it.
      return own === undefined || night.endsWith(`/${exportPaths.asked}`) ? [] : [night];
    }),
  );
  const seen = [...nights].map((name) => seenNight(storeWithin(store, name), name, names, clock));
  return { ...(await surveyOf(seen)), latest: await latestInBucket(store) };
}

/** @param all names in the bucket */
function seenNight(store: ObjectStore, name: string, all: readonly string[], clock: Pick<Clock, 'now'>): SeenNight {
  const prefix = `${name}/`;
  const own = all.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length));
  return {
    name,
    own,
    read: (object) => readObject(store, object),
    isHeld: async () => {
      for (const object of own) {
        const nonce = sliceNames.nonceOf(object);
        const beat = nonce === undefined ? undefined : await readBeat(store, nonce);
        if (beat !== undefined && mayLive(beat, clock.now())) return true;
      }
      return false;
    },
  };
}
