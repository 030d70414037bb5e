/** A job as it was given, before it is checked. */
export interface Tree {
  [name: string]: unknown;
}

/** The value at a path (`service.url`); undefined where there is none. */
export function valueAt(tree: Tree, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (isTree(value) && Object.hasOwn(value, name) ? value[name] : undefined), tree);
}

/** Puts a value at a path. */
export function putAt(tree: Tree, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let place = tree;
  for (const name of names) {
    const next = Object.hasOwn(place, name) ? place[name] : undefined;
    // A scalar where an object belongs stays, for the schema to complain about.
    if (next !== undefined && !isTree(next)) return;
    place = place[name] = next ?? {};
  }
  place[last] = value;
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
