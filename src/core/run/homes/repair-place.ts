import type { ExportPlace } from './export-place.ts';
import { type ObjectStore, storeWithin } from '../../../places/objects/object-store.ts';
import { commandLine } from '../../../lib/addresses/shown-text.ts';
import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import type { HomePlace } from './home-place.ts';

/**
 * Where parts of a complete export are made again: they go into the export, and all that an unfinished export keeps beside them lies below
 * `.run/repair`, so the manifest and what a run left below `.run` stay.
 */
export function repairPlace(place: HomePlace): HomePlace {
  const { store, address, scratch, others } = place;
  return {
    ...place,
    store: partsAndRest(store, storeWithin(store, exportPaths.repair)),
    address: pathIn(address, exportPaths.repair),
    scratch: pathIn(scratch, others === undefined ? exportPaths.repair : 'repair'),
    isWhole: true,
    onDamaged: undefined,
  };
}

/** Parts in one store, and everything else of an export in another. */
function partsAndRest(parts: ObjectStore, rest: ObjectStore): ObjectStore {
  const isRest = (name: string): boolean => name.startsWith(`${exportPaths.run}/`) || name === exportPaths.manifest;
  const of = (name: string): ObjectStore => (isRest(name) ? rest : parts);
  return {
    isShared: parts.isShared,
    putNew: (name, body) => of(name).putNew(name, body),
    putAll: (bodies) => parts.putAll(bodies),
    replace: (name, body, tag) => of(name).replace(name, body, tag),
    put: (name, body) => of(name).put(name, body),
    look: (name) => of(name).look(name),
    read: (name, range) => of(name).read(name, range),
    list: (prefix) => of(prefix).list(prefix),
    names: (folder) => of(folder).names(folder),
    remove: async (names) => {
      await rest.remove(names.filter(isRest));
      await parts.remove(names.filter((name) => !isRest(name)));
    },
  };
}

/** What is said of a complete export whose repair was stopped; undefined of any other. */
export async function noteOfRepair({
  store,
  folder,
}: Pick<ExportPlace, 'store' | 'folder'>): Promise<string | undefined> {
  if ((await store.look(exportPaths.repairStart)) === undefined) return undefined;
  return `${folder} has an unfinished repair. Resume it: ${commandLine('verify', folder, '--repair')} --job <job.yaml> --yes`;
}
