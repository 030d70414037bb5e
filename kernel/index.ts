export { layOutColumns } from './columns';
export { hashAt, keccak } from './keccak';
export { encodeCsv, encodeJsonl } from './lines';
export { freeAt, header } from './memory';
export { readRows } from './read';
export { scan } from './scan';
