/** A file of ids in a bucket. */
export interface RemoteFile {
  /** With the bucket. */
  readonly address: string;
  readonly bytes?: number;
  /** Its bytes from the beginning: again each time. */
  readonly read: () => AsyncIterable<Uint8Array>;
}

/** Finds files of ids in buckets: the object of an address; with `*` in it all that match, sorted by name. */
export type FindRemote = (address: string) => Promise<RemoteFile[]>;

/** Matches names in which `*` stands for anything but `/`, and `**` for anything. */
export function namePattern(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*\/|\*+)/).map((part) => {
    if (part === '**/') return '(?:.*/)?';
    if (part === '*') return '[^/]*';
    return part.startsWith('*') ? '.*' : part.replaceAll(/[\\^$.+?()[\]{}|/]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join('')}$`, 'u');
}
