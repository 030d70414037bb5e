import type { ListingDialect } from '../../core/client/dialects.ts';
import { commandLine, shownPath } from '../../lib/addresses/shown-text.ts';
import { count, plural, printable } from '../../lib/format-text.ts';
import type { ListAccount, ListStatus } from '../../wings/listing/index.ts';

const nameWidth = 14;
const figureWidth = 7;

/** What a list ends with: what was listed, how many, what proves it, and the bill. */
export function listSummary(account: ListAccount, { list }: Pick<ListingDialect, 'list'>): string {
  const { members, inErrors, calls, credits, price } = account;
  const { creditsPerPage, source, day } = price;
  return [
    ['filter', `${filterText(account)}; burnt assets are never listed`],
    [
      'members',
      inErrors === 0
        ? count(members)
        : figure(members, `${count(inErrors)} of them with an error in place of a record`),
    ],
    ['proof', proofText(account, list.total)],
    ['calls', figure(calls, callsText(account, list.total))],
    ['credits', figure(credits, `${count(creditsPerPage)} a page (${source}, read ${day})`)],
  ]
    .map(([name = '', text = '']) => `  ${name.padEnd(nameWidth)}${text}`)
    .join('\n');
}

/** How a list stands, and what to do next. */
export function listStatusText(status: ListStatus, cwd: string): string {
  const { state, filter, dialect, origin, members, startedAt, proof, unproven } = status;
  const shown = shownPath(status.list, cwd);
  const states: Record<ListStatus['state'], string> = {
    complete: 'a list of ids, complete',
    unproven: `a list of ids that is not proven: ${unproven ?? ''}`,
    running: 'a list of ids, and a process works on it',
    stopped: 'a list of ids, incomplete; no process is working on it',
  };
  const next = nextOfList(status, shown);
  return [
    `${shown} is ${states[state]}`,
    '',
    `  ${'filter'.padEnd(nameWidth)}${filter.by} ${filter.address}${filter.onlyVerified ? ', signed assets' : ''}`,
    `  ${'service'.padEnd(nameWidth)}${printable(`${origin}, dialect ${dialect}`)}`,
    `  ${'started'.padEnd(nameWidth)}${startedAt}`,
    `  ${'members'.padEnd(nameWidth)}${count(members)}${proof === undefined ? ' so far' : ''}`,
    ...(proof === undefined ? [] : [`  ${'proof'.padEnd(nameWidth)}${proof}`]),
    ...(next === undefined ? [] : ['', `Next: ${next}`]),
    '',
  ].join('\n');
}

function nextOfList({ state, proof, members }: ListStatus, shown: string): string | undefined {
  if (state === 'complete')
    return `${commandLine('plan', '--ids', shown, '--out', 'DIR')}, with the flags of the service`;
  if (state === 'stopped') return 'run the same ids command again to resume. Answered pages cost nothing.';
  if (state === 'running') return undefined;
  if (members === 0)
    return 'look at the address and the filter: a wallet has no members, ids --owner lists what it owns';
  const todo = proof === 'none' ? 'with --proof-calls N or --expect N' : 'with another --expect, or with --fresh';
  return `run the same ids command again, ${todo}. Answered pages cost nothing.`;
}

function figure(value: number, words: string): string {
  const text = count(value);
  return `${text.padEnd(Math.max(figureWidth, text.length + 1))}${words}`;
}

function filterText({ filter: { by, address, onlyVerified }, flags }: ListAccount): string {
  const shown = `${by} ${address.slice(0, 8)}…`;
  if (by === 'collection')
    return `${shown}, ${flags['showUnverifiedCollections'] === true ? 'unverified members too' : 'verified members'}`;
  if (by === 'creator') return `${shown}, ${onlyVerified ? 'signed assets' : 'unsigned assets too'}`;
  return shown;
}

function proofText(
  { proof, members, totals, unproven = '' }: ListAccount,
  by: ListingDialect['list']['total'],
): string {
  const most = Math.max(0, ...totals);
  const moved = most - Math.min(most, ...totals);
  const came = moved === 0 ? '' : `; ${count(moved)} came or left`;
  const differs = totals.length > 0 && most !== members ? `; the service counts ${count(most)}` : '';
  const texts: Record<ListAccount['proof'], string> = {
    total:
      most === members
        ? `total: the service counts ${count(members)} too (${by})${came}`
        : `total: the service counts ${count(most)} rows, fewer than a page above the members (${by})${came}`,
    ranges: `ranges: no step without members was wider than half a page${differs}${came}`,
    token: `token: the service sent no further one${differs}`,
    pages: `pages: all were requested, between equal totals of ${count(most)}, and ended where they did`,
    expect: `expect: ${count(members)}, as --expect says${differs}${came}`,
    none: `none: ${unproven}${differs}${came}`,
  };
  return texts[proof];
}

function callsText(
  { pages, emptyPages, askedAgain, totals, calls }: ListAccount,
  by: ListingDialect['list']['total'],
): string {
  const all = pages + emptyPages;
  const apart = by === 'showGrandTotal' ? Math.max(0, totals.length - 1) : totals.length;
  const forTotals = by === 'showGrandTotal' ? 'for the second total' : `for ${apart === 1 ? 'the total' : 'totals'}`;
  const more = calls - all - apart - askedAgain;
  return [
    plural(all, 'page'),
    ...(askedAgain === 0 ? [] : [`${count(askedAgain)} requested again`]),
    ...(apart === 0 ? [] : [`${apart} ${forTotals}`]),
    ...(more <= 0 ? [] : [`${plural(more, 'attempt')} more`]),
  ].join(', ');
}
