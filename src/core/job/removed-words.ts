/** Fields of jobs and flags that were removed, and what to write instead. */
export const removedWords: Readonly<Record<string, string>> = {
  'output.nested': 'write child tables: output.tables: [assets, creators, authorities, grouping, files, attributes]',
  'base.sample': 'write output.tables: [assets, changes]: changes has each requested row that differs from the base',
  nested: 'Write child tables: --tables assets,creators,authorities,grouping,files,attributes',
  sample: 'Write --tables assets,changes: changes has each requested row that differs from the base.',
};
