import type { ObjectStore } from './object-store.ts';

/** The objects under a folder of a store, by their names in it. The store itself for no folder. */
export function storeWithin(store: ObjectStore, folder: string): ObjectStore {
  if (folder === '') return store;
  const prefix = `${folder.replace(/\/+$/, '')}/`;
  return {
    isShared: store.isShared,
    putNew: (name, body) => store.putNew(prefix + name, body),
    putAll: async (bodies) => {
      const taken = await store.putAll(bodies.map(({ name, body }) => ({ name: prefix + name, body })));
      return taken.map((name) => name.slice(prefix.length));
    },
    replace: (name, body, tag) => store.replace(prefix + name, body, tag),
    put: (name, body) => store.put(prefix + name, body),
    look: (name) => store.look(prefix + name),
    read: (name, range) => store.read(prefix + name, range),
    list: async function* (start) {
      for await (const { name, bytes } of store.list(prefix + start)) yield { name: name.slice(prefix.length), bytes };
    },
    names: (folder) => store.names(prefix + folder),
    remove: (names) => store.remove(names.map((name) => prefix + name)),
  };
}
