export { type ListQuery, pageBody, type PagePlace, totalBody, totalOf } from './wire/list-body.ts';
export { parsePage, parseTotal } from './wire/parse-page.ts';
