/** An object that notes which members are read: a validator reads those of its schema alone. */
export function unreadMembers(root: object): { readonly value: object; readonly unread: () => string[] } {
  const read = new Set<string>();
  const watched = (target: object, path: string): object =>
    new Proxy(target, {
      get: (object, name) => {
        const value: unknown = Reflect.get(object, name);
        if (typeof name === 'string') read.add(`${path}/${name}`);
        return typeof value === 'object' && value !== null ? watched(value, `${path}/${String(name)}`) : value;
      },
    });
  const paths = (value: unknown, path: string): string[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, child]) => [`${path}/${name}`, ...paths(child, `${path}/${name}`)])
      : [];
  return { value: watched(root, ''), unread: () => paths(root, '').filter((path) => !read.has(path)) };
}
