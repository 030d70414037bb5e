import type { Table } from './table.ts';

/** Every entry of the input as it was read, in its order: what a part was requested with. */
export const idsTable: Table = {
  name: 'ids',
  columns: [
    { name: 'source', type: 'string', nullable: false, path: [], about: 'The input it was read from.' },
    { name: 'line', type: 'int64', nullable: false, path: [], about: 'The line of that input, from 1.' },
    { name: 'id', type: 'string', nullable: false, path: [], about: 'The text as it was read.' },
    {
      name: 'state',
      type: 'string',
      nullable: false,
      path: [],
      about: 'valid, duplicate, invalid, or invalid: and the reason where that does not follow from the text.',
    },
  ],
};
