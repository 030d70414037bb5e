import { listKind } from '../../places/export/export-folder.ts';
import type { ListingDialect } from '../../core/client/dialects.ts';
import type { Proof, ListVerdict, WalkCounts } from './walk/walk.ts';
import type { ListQuery } from './wire/list-body.ts';

/** The account of a list, as `FILE.json` holds it. It holds no key and no address of the service but its origin. */
export interface ListAccount {
  readonly kind: typeof listKind;
  readonly filter: { readonly by: string; readonly address: string; readonly onlyVerified: boolean };
  readonly flags: Readonly<Record<string, boolean>>;
  readonly dialect: string;
  readonly origin: string;
  /** UTC. Every id that was a member from the first to the last is listed. */
  readonly firstCall: string;
  readonly lastCall: string;
  readonly members: number;
  /** Members of which the service could not show the record. */
  readonly inErrors: number;
  readonly totals: readonly number[];
  readonly proof: Proof;
  /** Why the list has not its name. */
  readonly unproven?: string;
  /** Calls that the rest would take, about. */
  readonly restCalls?: number;
  /** What the proof rests on. */
  readonly assumes: string;
  readonly without: 'burnt';
  readonly pages: number;
  readonly emptyPages: number;
  /** Calls for pages that were requested before, for the proof. */
  readonly askedAgain: number;
  readonly calls: number;
  readonly credits: number;
  readonly price: { readonly creditsPerPage: number; readonly source: string; readonly day: string };
  /** Of the list, as it lies on the disk. */
  readonly sha256: string;
  readonly version: string;
}

export interface AccountFacts {
  readonly dialect: ListingDialect;
  readonly query: ListQuery;
  readonly origin: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly members: number;
  readonly counts: WalkCounts;
  readonly verdict: ListVerdict;
  readonly unproven: string | undefined;
  readonly calls: number;
  readonly credits: number;
  readonly sha256: string;
  readonly version: string;
}

export function listAccountOf(facts: AccountFacts): ListAccount {
  const { dialect, query, counts, verdict } = facts;
  const { priced, list } = dialect;
  return {
    kind: listKind,
    filter: { by: query.filter, address: query.address, onlyVerified: query.onlyVerified },
    flags: { ...query.flags },
    dialect: dialect.name,
    origin: facts.origin,
    firstCall: new Date(facts.firstMs).toISOString(),
    lastCall: new Date(facts.lastMs).toISOString(),
    members: facts.members,
    inErrors: counts.inErrors,
    totals: [...counts.totals],
    proof: verdict.proof,
    ...(facts.unproven === undefined ? {} : { unproven: facts.unproven }),
    ...(verdict.restCalls === undefined ? {} : { restCalls: verdict.restCalls }),
    assumes: assumptions[verdict.proof],
    without: 'burnt',
    pages: counts.pages,
    emptyPages: counts.emptyPages,
    askedAgain: counts.askedAgain,
    calls: facts.calls,
    credits: facts.credits,
    price: { creditsPerPage: list.creditsPerPage, source: priced.source, day: priced.day },
    sha256: facts.sha256,
    version: facts.version,
  };
}

/** Whether a list began at that time, in milliseconds since 1970: the pages that began then are no longer needed. */
export function beganAt(account: ListAccount | undefined, startedAtMs: number): boolean {
  return account !== undefined && Date.parse(account.firstCall) === startedAtMs;
}

const assumptions: Readonly<Record<Proof, string>> = {
  total: 'the total of the service counts every member',
  ranges:
    'ids are spread over the key space like hashes, at most in parts of different density with members in each: half a span of the nearest pages holds fewer rows than a page takes',
  token: 'the service sends a token as long as it has rows, as its source states',
  pages:
    'equal totals, and every page ends at the same id when it is requested again: members that moved and moved back are not seen',
  expect: 'the number of --expect is right',
  none: 'nothing is proven',
};
