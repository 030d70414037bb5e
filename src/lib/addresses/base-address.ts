/** What to write where a base address is wrong. */
export const addressExample =
  'Give the base address, such as https://service.example, without /v3 and the key: the key goes into a file (service.apiKeyFile) or the environment.';

/**
 * What is wrong with the base address of a service, as a clause without the address: it may hold a key by mistake.
 * @param path what the program adds to it: its first segment is not to be there already
 */
export function addressProblem(text: string, path = '/v3/'): string | undefined {
  if (text === '') return 'is empty';
  if (!/^https?:\/\//i.test(text)) return 'does not start with https:// or http://';
  // URL.parse is missing in Node 20.
  if (/\s/.test(text) || !URL.canParse(text)) return 'is not a valid address';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'contains a user name or password; remove it';
  if (url.search !== '' || url.hash !== '') return 'contains ? or #; remove that part';
  const [, first = ''] = path.split('/');
  const isPlain = /^[\w-]+$/.test(first);
  return isPlain && url.pathname.split('/').includes(first) ? `already holds /${first}` : undefined;
}
