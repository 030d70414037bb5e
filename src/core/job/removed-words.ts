/** Fields of jobs and flags that were removed, and what to write instead. */
export const removedWords: Readonly<Record<string, string>> = {
  'output.nested': 'write child tables: output.tables: [assets, creators, authorities, grouping, files, attributes]',
  nested: 'Write child tables: --tables assets,creators,authorities,grouping,files,attributes',
};
