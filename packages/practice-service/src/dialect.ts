import type { IncomingMessage } from 'node:http';

/** How lists are requested of it; `SpokenDialect` says in which form. */
export interface SpokenLists {
  /** The method for each filter; undefined: an unknown one. */
  readonly collection: string | undefined;
  readonly owner: string | undefined;
  readonly creator: string | undefined;
  readonly authority: string | undefined;
  readonly tree: string | undefined;
  /** The words for an order by ids; without them the order is by rising ids. */
  readonly sort: { readonly sortBy: string } | undefined;
  /** Most members a page. */
  readonly limit: number;
  readonly total: 'getGrouping' | 'showGrandTotal' | 'none';
  /** `token`: an answer has a token as long as it has rows, be they shown or not. */
  readonly ends: 'token' | undefined;
  readonly flags: readonly ShowFlag[];
  readonly flagsOwner: readonly ShowFlag[];
  /** Price of a page, or of a total. */
  readonly creditsPerPage: number;
}

export type ShowFlag = 'showFungible' | 'showUnverifiedCollections' | 'showCollectionMetadata';

/** How a service of some kind is spoken to. The caller gives it: the service knows one kind, that of the specification. */
export interface SpokenDialect {
  /** `{key}` at most once, in a segment or in the value of a query. */
  readonly path: string;
  /** `NAME: {key}`, where the key is in no path. */
  readonly header: string | undefined;
  readonly one: string;
  readonly many: string;
  readonly params: 'positional' | 'named';
  readonly options: string;
  readonly flagsOne: readonly ShowFlag[];
  readonly flagsMany: readonly ShowFlag[];
  /** Fields beside the flags that are taken and change nothing. */
  readonly ignored: readonly string[];
  /** Absent: it has no list methods. */
  readonly list?: SpokenLists | undefined;
}

export const specified: SpokenDialect = {
  path: '/v3/{key}',
  header: undefined,
  one: 'getAsset',
  many: 'getAssets',
  params: 'positional',
  options: 'options',
  flagsOne: ['showFungible', 'showUnverifiedCollections', 'showCollectionMetadata'],
  flagsMany: ['showFungible', 'showCollectionMetadata'],
  ignored: [],
};

const mark = '{key}';

export function takesKey({ path, header = '' }: SpokenDialect): boolean {
  return `${path} ${header}`.includes(mark);
}

/** The key of a request, empty where it has none; undefined for a request to another path. */
export function keyOf(
  { path, header }: SpokenDialect,
  segments: readonly string[],
  { url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>,
): string | undefined {
  const [route = '', query = ''] = path.split('?');
  const wanted = route.slice(1).split('/');
  if (segments.length > wanted.length) return undefined;
  let key = header === undefined ? '' : keyIn(header.slice(header.indexOf(':') + 1).trim(), headerOf(header, headers));
  for (const [at, segment] of wanted.entries()) {
    if (segment === mark) key = segments[at] ?? '';
    else if (segment !== (segments[at] ?? '')) return undefined;
  }
  for (const [name, value] of new URLSearchParams(query)) {
    const given = new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? '').get(name);
    if (value === mark) key = given ?? '';
    else if (value !== given) return undefined;
  }
  return key;
}

function headerOf(header: string, headers: IncomingMessage['headers']): string {
  return String(headers[header.slice(0, header.indexOf(':')).toLowerCase()] ?? '');
}

function keyIn(template: string, text: string): string {
  const [before = '', after = ''] = template.split(mark);
  const fits = text.startsWith(before) && text.endsWith(after) && text.length >= before.length + after.length;
  return fits ? text.slice(before.length, text.length - after.length) : '';
}
