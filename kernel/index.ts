export { freeAt, header } from './memory';
export { scan } from './scan';
