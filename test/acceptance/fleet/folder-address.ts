const scheme = 's3://folder';

/** Names a folder as if it were a bucket. */
export const folderAddress = {
  of: (folder: string): string => `${scheme}${folder}/export`,
  isOne: (address: string): boolean => address.startsWith(`${scheme}/`),
  /** The folder itself; any other address as it is. */
  folder: (address: string): string => (folderAddress.isOne(address) ? address.slice(scheme.length) : address),
} as const;
