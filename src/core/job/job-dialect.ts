import type { SizeBounds } from '../client/judgement/call-size.ts';
import { defaultDialect, type ListingDialect, type ServiceDialect, serviceDialects } from '../client/dialects.ts';
import { ExportError } from '../../lib/export-error.ts';
import { nearestName } from '../../lib/format-text.ts';

export const namesOfDialects = serviceDialects.map(({ name }) => name);

/** Whether a dialect is a file, and not a name. */
export function isDialectFile(text: string): boolean {
  return /[/\\]|\.(ya?ml|json)$/i.test(text);
}

/** Files that were read when their jobs were loaded: each is read once. */
const known = new Map<string, ServiceDialect>();

export function isRead(path: string): boolean {
  return known.has(path);
}

export function keepDialect(path: string, dialect: ServiceDialect): void {
  known.set(path, dialect);
}

/** The dialect that a job names; the default one without a name. @throws {ExportError} `usage` with the nearest name */
export function dialectOf(text: string | undefined): ServiceDialect {
  if (text === undefined) return defaultDialect;
  return known.get(text) ?? dialectNamed(text);
}

/** @throws {ExportError} `usage` with the nearest name */
export function dialectNamed(name: string): ListingDialect {
  const dialect = serviceDialects.find((each) => each.name === name);
  if (dialect !== undefined) return dialect;
  const near = nearestName(name, namesOfDialects);
  throw new ExportError('usage', `unknown dialect ${name}${near === undefined ? '' : `; did you mean ${near}?`}`, {
    todo: `Name one of ${namesOfDialects.join(', ')}, or a file that ends with .yaml (asset-export help dialects).`,
  });
}

/** What a job says of its service, as far as it is looked at here. */
interface JobOfService {
  readonly service: {
    readonly dialect?: string | undefined;
    readonly idsPerCall: number;
    readonly singles: boolean;
    readonly flags: { readonly showUnverifiedCollections: boolean };
  };
}

/** Whether missing ids are asked for alone: where the method for many does not know the flag that finds them. */
export function asksAlone({ service: { dialect, singles, flags } }: JobOfService): boolean {
  if (!singles || !flags.showUnverifiedCollections) return false;
  return !dialectOf(dialect).flagsMany.includes('showUnverifiedCollections');
}

/** Most ids a call, where the dialect takes fewer than the job asks for, or an earlier run has found fewer. */
export function mostIdsPerCall(job: JobOfService, learned: readonly (number | undefined)[]): number | undefined {
  const known = [...learned, dialectCap(job)].filter((cap) => cap !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Most ids a call of the dialect, where it takes fewer than the job asks for. */
function dialectCap({ service }: JobOfService): number | undefined {
  const { idsPerCall } = dialectOf(service.dialect);
  return idsPerCall < service.idsPerCall && service.dialect !== undefined ? idsPerCall : undefined;
}

/** What is known of the size of calls before the first one. @param learned most ids a call, as others believed */
export function sizeBounds(job: JobOfService, learned: readonly (number | undefined)[]): SizeBounds {
  const hints = learned.filter((hint) => hint !== undefined);
  return {
    cap: dialectCap(job),
    hint: hints.length === 0 ? undefined : Math.min(...hints),
  };
}

/** Ids a call, as calls are planned: the job's number, or the dialect's where that is smaller. */
export function plannedSize({ service }: JobOfService): number {
  return dialectCap({ service }) ?? service.idsPerCall;
}

/** Where the price of a job's calls comes from: `MetaMask credit costs, read 2026-11-25`, or the job. */
export function priceSource({
  service,
  budget,
}: JobOfService & { readonly budget: { readonly creditsPerCall: number } }): string {
  const { creditsPerCall, priced } = dialectOf(service.dialect);
  return budget.creditsPerCall === creditsPerCall ? `${priced.source}, read ${priced.day}` : 'your job';
}

/** The dialect of a job where it is not the specification's. */
export function otherDialect({ service }: JobOfService): ServiceDialect | undefined {
  const dialect = dialectOf(service.dialect);
  return dialect === defaultDialect ? undefined : dialect;
}
