import type { Direction } from './keys.ts';

/** A page that a walk wants: from a place up to another, by the token of an answer, or by its number. */
export interface PageRequest {
  readonly kind: 'page';
  /** Keys above it, and below it; undefined: no such limit. */
  readonly after?: bigint | undefined;
  readonly before?: bigint | undefined;
  /** The place where it starts is a member's. */
  readonly startsAtId: boolean;
  /** Which way its ids go, once that is known. */
  readonly direction?: Direction | undefined;
  readonly cursor?: string | undefined;
  /** From 1. */
  readonly number?: number | undefined;
  /** Members a page, in place of the usual number: such a page shows a boundary of others, and is no part of the walk. */
  readonly limit?: number | undefined;
  /** It carries the total of the whole list too. */
  readonly withTotal: boolean;
}

export type ListRequest = PageRequest | { readonly kind: 'total' };

/** An answered page. */
export interface AnsweredPage {
  /** 32 bytes a member, rising, each once: records, and those that came with an error. */
  readonly keys: Uint8Array;
  /** Which way its ids went; undefined for fewer than two. */
  readonly direction: Direction | undefined;
  /** Members that came with an error in place of a record. */
  readonly inErrors: number;
  /** Of the whole list, where the page carries it. */
  readonly total?: number | undefined;
  /** The token of the next page. */
  readonly cursor?: string | undefined;
  /** The last member in the order of the service, where its records show one. */
  readonly last?: bigint | undefined;
}

export const proofs = ['total', 'ranges', 'token', 'pages', 'expect', 'none'] as const;
/** What shows that a list is complete. */
export type Proof = (typeof proofs)[number];

export interface ListVerdict {
  readonly proof: Proof;
  /** Why nothing is proven, as a sentence; absent with a proof. */
  readonly why?: string;
  /** Calls that the rest would take, about. */
  readonly restCalls?: number;
}

export interface WalkOptions {
  /** Most members a page. */
  readonly limit: number;
  /** Most pages at once. */
  readonly concurrency: number;
  /** Which way ids go; undefined where no words for it are sent: the first page of two ids shows it. */
  readonly direction?: Direction | undefined;
  /** How the total of the whole list comes: with a page, by a call of its own, or not at all. */
  readonly total: 'withPage' | 'alone' | 'none';
  /** `rows`: the total counts dropped rows, too. */
  readonly totalCounts: 'rows' | undefined;
  /** Most pages without members, in place of the usual number. */
  readonly proofCalls?: number | undefined;
  /** The number of members that the user knows. */
  readonly expect?: number | undefined;
  /** Kept pages were requested with another limit: they do not show how far a page reaches now. */
  readonly hadOtherLimit?: boolean | undefined;
}

/**
 * Decides which pages are requested, and what they prove: without I/O and without a clock. It is asked for requests, and told
 * what they brought, in any order.
 */
export interface Walk {
  /** What to request now, besides what is under way. Nothing and nothing under way: it has ended. */
  next(): readonly ListRequest[];
  answered(request: PageRequest, page: AnsweredPage): void;
  /** Undefined: the service gives none. */
  totalled(total: number | undefined): void;
  /** The service refuses the place of a page, which is no member's. */
  refused(request: PageRequest): void;
  /** What an earlier process was answered. Before anything else. */
  resume(request: PageRequest, page: AnsweredPage): void;
  resumeTotal(total: number): void;
  readonly counts: WalkCounts;
  /** Calls of full pages, totals and boundaries: by the first total, or by the members. */
  readonly planned: number;
  /** Most calls for empty pages and for pages requested again. */
  readonly mostEmpty: number;
  /** How the list leads nowhere, as a clause: it ends then. */
  readonly circle: string | undefined;
  /** Once it has ended. */
  verdict(): ListVerdict;
}

export interface WalkCounts {
  /** Each counted once. */
  readonly members: number;
  readonly inErrors: number;
  /** Members of the largest page. */
  readonly largestPage: number;
  /** Calls for pages that were requested before. */
  readonly askedAgain: number;
  /** Pages with members, and without. */
  readonly pages: number;
  readonly emptyPages: number;
  /** All totals, in the order in which they came. */
  readonly totals: readonly number[];
}
