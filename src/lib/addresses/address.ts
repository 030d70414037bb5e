import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { ExportError } from '../export-error.ts';
import { fileURLToPath } from 'node:url';
import { bucketExamples, bucketNameProblem, bucketSchemes } from './address-kinds.ts';
import { nearestName } from '../format-text.ts';

/**
 * The home folder of the user. @param instead says which folder to name where there is none
 * @throws {ExportError} `usage` for a user without one: a uid of a container, or an empty `HOME`
 */
export function homeFolder(instead: string): string {
  const home = homeOrNone();
  if (isAbsolute(home)) return home;
  throw new ExportError('usage', 'this user has no home folder (HOME)', { todo: instead });
}

function homeOrNone(): string {
  try {
    return homedir();
  } catch {
    return ''; // The uid has no entry.
  }
}

interface AddressRules {
  /** Whether it may lie in a bucket. */
  readonly buckets: boolean;
  /** What to do instead of `-`; absent where `-` is stdin or stdout. */
  readonly insteadOfDash?: string;
  /** What to write instead of `{date}`; absent where `{date}` is replaced by the day. */
  readonly insteadOfDate?: string;
  /** Names that begin with `/`, `./` or `../` are read as they are: an export may really be called `{day}`. */
  readonly reads?: boolean;
  /** Braces are those of a pattern. */
  readonly braces?: boolean;
}

const nameDay = 'Write the day, as in out/2026-01-31.';
const nameFolder = 'Name a folder. Records go to stdout with asset-export get.';

/** Every kind of place that takes an address. */
const uses = {
  /** `output.dir` */
  out: { buckets: true, insteadOfDash: nameFolder },
  /** `rebuild --out` */
  rebuilt: { buckets: true, insteadOfDash: nameFolder, insteadOfDate: nameDay },
  /** `diff --out` */
  changes: { buckets: false, insteadOfDash: nameFolder, insteadOfDate: nameDay },
  /** `base.from` */
  base: {
    buckets: true,
    insteadOfDash: 'Name the folder of an earlier export, or none.',
    insteadOfDate: 'Write a pattern that matches the earlier days, such as out/*.',
  },
  /** `ids.from` */
  ids: { buckets: true, reads: true, braces: true },
  /** `serve --assets` */
  records: { buckets: true, reads: true, braces: true, insteadOfDash: 'Save the records as a file and name the file.' },
  /** The export that a command reads. */
  export: { buckets: true, reads: true, insteadOfDash: 'Name the folder of an export.', insteadOfDate: nameDay },
  /** `report --to` */
  page: { buckets: false, insteadOfDate: nameDay },
  /** `ids --out` */
  list: { buckets: false, insteadOfDash: 'Name a file of this machine.', insteadOfDate: nameDay },
  /** `schema --folder` */
  warehouse: { buckets: true, insteadOfDash: 'Name the folder as the warehouse sees it.' },
  /** Files and folders of this machine. */
  local: { buckets: false, reads: true, braces: true, insteadOfDash: 'Name a file or folder of this machine.' },
} as const satisfies Readonly<Record<string, AddressRules>>;

export type AddressUse = keyof typeof uses;

/** What an address is. */
type Address =
  /** `text` is a path, relative or absolute: `~/` and `file://` are resolved. */
  | { readonly kind: 'path' | 'bucket' | 'stream'; readonly text: string }
  /** `problem` is a clause that follows the name of the place; `todo` holds the nearest right form. */
  | { readonly kind: 'wrong'; readonly problem: string; readonly todo: string };

/** Classifies an address, without looking at what is there. */
export function classifyAddress(text: string, use: AddressUse): Address {
  const rules: AddressRules = uses[use];
  if (text === '-') {
    if (rules.insteadOfDash === undefined) return { kind: 'stream', text };
    return wrong('is -, which is neither a folder nor a bucket', rules.insteadOfDash);
  }
  // A stage of a warehouse has signs of its own.
  if (use === 'warehouse' && text.startsWith('@')) return { kind: 'path', text };
  const schemed = ofScheme(text, rules) ?? withoutScheme(text);
  if (schemed?.kind === 'wrong') return schemed;
  return unknownName(text, rules) ?? schemed ?? { kind: 'path', text: fromHome(text) };
}

/**
 * The path or the address of a bucket that a text names; `-` where that is a stream.
 * @param name of the place, as the message shows it
 * @throws {ExportError} `usage`, with the nearest right form
 */
export function requireAddress(text: string, use: AddressUse, name: string): string {
  const address = classifyAddress(text, use);
  if (address.kind !== 'wrong') return address.text;
  throw new ExportError('usage', `${name} ${address.problem}`, { todo: address.todo });
}

/** Why a job cannot have an address, as text that follows the field's name; undefined where it can. */
export function addressIssue(text: string, use: AddressUse): string | undefined {
  const address = classifyAddress(text, use);
  return address.kind === 'wrong' ? `${address.problem}. ${address.todo}` : undefined;
}

/** A warning about an output folder whose name looks like that of a file; undefined for any other. */
export function fileNameWarning(folder: string): string | undefined {
  const name = /[^/\\]+$/.exec(folder.replace(/[/\\]+$/, ''))?.[0] ?? '';
  if (!/\.(csv|tsv|jsonl?|ndjson|parquet|pq|gz|zst|zip|txt|html|db|duckdb|sqlite)$/i.test(name)) return undefined;
  return `the output folder ${name} has the name of a file; an export is a folder with several files`;
}

function wrong(problem: string, todo: string): Address {
  return { kind: 'wrong', problem, todo };
}

const own = [...Object.keys(bucketSchemes), 'file'];

/** Other names of the schemes that are supported. */
const otherSchemes: Readonly<Record<string, string>> = {
  s3a: 's3',
  s3n: 's3',
  r2: 's3',
  minio: 's3',
  b2: 's3',
  gcs: 'gs',
  gcp: 'gs',
  azure: 'az',
  azblob: 'az',
  abfs: 'az',
  abfss: 'az',
  wasb: 'az',
  wasbs: 'az',
  adl: 'az',
};

/** Stores that speak S3 at an address of their own. */
const endpoints: Readonly<Record<string, string>> = {
  r2: 'https://ACCOUNT.r2.cloudflarestorage.com',
  minio: 'http://localhost:9000',
  b2: 'https://s3.REGION.backblazeb2.com',
};

const databases = ['duckdb', 'postgres', 'postgresql', 'snowflake', 'bigquery', 'clickhouse', 'redshift', 'mysql'];
const web = ['http', 'https', 'ftp', 'sftp'];
/** Words that are schemes also without two slashes behind them. */
const schemes = [...own, ...Object.keys(otherSchemes), ...databases, ...web, 'dbfs', 'hdfs'];

/** What begins with a scheme; undefined for a path. */
function ofScheme(given: string, rules: AddressRules): Address | undefined {
  const [, spaces = '', word = '', slashes = '', rest = ''] = /^(\s*)([A-Za-z][\w+.-]*):(\/*)(.*)$/s.exec(given) ?? [];
  const scheme = word.toLowerCase();
  const isDrive = scheme.length < 2;
  if (isDrive || (slashes.length < 2 && !schemes.includes(scheme))) return undefined;
  const written = `${word}:${slashes.slice(0, 2)}`;
  if (databases.includes(scheme)) {
    return wrong(
      `begins with ${written}, the address of a database`,
      'Name a folder or bucket. To fill a database, run asset-export load afterwards.',
    );
  }
  if (web.includes(scheme)) {
    const bucket = bucketOnTheWeb(rest);
    return wrong(
      `begins with ${written}: files are not read or written over the web`,
      bucket === undefined || !rules.buckets ? nameOne(rules) : `Write ${bucket}.`,
    );
  }
  const right = rightAddress(scheme, rest, slashes);
  if (right === undefined) return wrong(`begins with the unknown scheme ${written}`, nearOne(scheme, rest, rules));
  const [, rightScheme = ''] = /^(\w+):/.exec(right) ?? [];
  if (rightScheme !== 'file' && !rules.buckets) {
    return wrong(`begins with ${written}: it must be a file or folder of this machine`, nameOne(rules));
  }
  const endpoint = endpoints[scheme];
  const advice = `Write ${right}${endpoint === undefined ? '' : ` with --out-endpoint ${endpoint}`}.`;
  if (!own.includes(scheme)) return wrong(`begins with the unknown scheme ${written}`, advice);
  if (word !== scheme) return wrong(`begins with ${written}, and schemes are written in small letters`, advice);
  if (slashes.length < 2) return wrong(`has ${scheme}: without //`, `${advice} A path of this name is ./${given}.`);
  if (spaces !== '') return wrong('begins with a space', advice);
  if (scheme === 'file') return fileAddress(given);
  const problem = bucketNameProblem(given);
  return problem === undefined ? { kind: 'bucket', text: given } : wrong(problem, nameOne(rules));
}

/** `name:password@host/database` and `host/v3/key` hold secrets: not shown. */
function withoutScheme(text: string): Address | undefined {
  if (!/^[^/\s]+:.*@[^/\s]/s.test(text) && !/^[\w-]+(\.[\w-]+)+(:\d+)?\/v3\//.test(text)) return undefined;
  return wrong(
    'looks like the address of a database or service',
    'Write --url https://host for the service, load --to postgres://user@host/database for a database. A path of such a name begins with ./.',
  );
}

/** The right form of an address whose scheme is supported, also by another name. */
function rightAddress(scheme: string, rest: string, slashes: string): string | undefined {
  if (scheme === 'file') return slashes.length === 1 ? `file:///${rest}` : `file://${slashes.slice(2)}${rest}`;
  const right = own.includes(scheme) ? scheme : otherSchemes[scheme];
  if (right === undefined) return undefined;
  return right === 'az' && scheme !== 'az' ? azureAddress(rest) : `${right}://${rest}`;
}

/** From `container@account.host/path` and `account.host/container/path`; other forms do not name the account. */
function azureAddress(rest: string): string {
  const [, container, account, path = ''] = /^([^/@]+)@([^/.]+)[^/]*(\/.*)?$/s.exec(rest) ?? [];
  if (container !== undefined) return `az://${account ?? ''}/${container}${path}`;
  const [, host, beneath = ''] = /^([^/.]+)\.[^/]*\.windows\.net(\/.*)?$/s.exec(rest) ?? [];
  return host === undefined ? `az://ACCOUNT/${rest}` : `az://${host}${beneath}`;
}

/** The bucket behind a web address of a cloud; undefined behind any other. */
function bucketOnTheWeb(rest: string): string | undefined {
  const [, host = '', path = ''] = /^([^/?#]+)\/?([^?#]*)/.exec(rest) ?? [];
  if (host.endsWith('.windows.net')) return azureAddress(`${host}/${path}`);
  if (host === 'storage.googleapis.com') return `gs://${path}`;
  if (host.endsWith('.r2.cloudflarestorage.com')) return `s3://${path} with --out-endpoint https://${host}`;
  const [, bucket] = /^(?:(.+)\.)?s3[.-][\w.-]*amazonaws\.com$/.exec(host) ?? [];
  if (bucket !== undefined) return `s3://${bucket}/${path}`;
  return host.endsWith('amazonaws.com') && host.startsWith('s3') ? `s3://${path}` : undefined;
}

function nearOne(scheme: string, rest: string, rules: AddressRules): string {
  const near = rules.buckets ? nearestName(scheme, own) : undefined;
  return near === undefined ? nameOne(rules) : `Write ${near}://${rest}.`;
}

function nameOne({ buckets }: AddressRules): string {
  return buckets ? `Give a folder, ${bucketExamples}.` : 'Give a path of this machine.';
}

function fileAddress(text: string): Address {
  try {
    return { kind: 'path', text: fileURLToPath(text) };
  } catch {
    const path = text.slice('file://'.length);
    return wrong('is no file:// address of this machine', `Write file:///${path.replace(/^\/+/, '')}, or ${path}.`);
  }
}

/** What a shell or another program would have replaced, and nothing replaces here. */
function unknownName(text: string, { reads, braces, insteadOfDate }: AddressRules): Address | undefined {
  if (reads === true && /^\.{0,2}\//.test(text)) return undefined;
  const [variable, name] = /\$\{?([A-Za-z_]\w*)\}?/.exec(text) ?? [];
  if (variable !== undefined) {
    const isHome = name === 'HOME' && text.startsWith(`${variable}/`);
    return wrong(
      `contains ${variable}, which is not replaced here`,
      isHome
        ? `Write ~${text.slice(variable.length)}.`
        : `Write the value of ${variable}. In a shell, leave off the single quotes.`,
    );
  }
  const other = /^~[^/]+/.exec(text)?.[0];
  if (other !== undefined) {
    return wrong(
      `begins with ${other}, which is not replaced here`,
      `Write the whole path. A path of this name is ./${text}.`,
    );
  }
  const replaced = insteadOfDate === undefined ? 'Write {date} for the UTC day.' : insteadOfDate;
  const time = /%[YymdHMSFjUT](?![\dA-Fa-f])/.exec(text)?.[0];
  if (time !== undefined) return wrong(`contains ${time}, which is not replaced here`, replaced);
  if (braces === true) return undefined;
  // A brace without its other half is a name that was not finished.
  const found = [...text.matchAll(/\{[^{}]*\}|[^/{}]*\}|\{[^/{}]*/g)].map(([each]) => each);
  const unknown = found.find((each) => each !== '{date}' || insteadOfDate !== undefined);
  if (unknown === undefined) return undefined;
  return wrong(
    unknown === '{date}' ? 'contains {date}, which only output.dir replaces' : `contains the unknown name ${unknown}`,
    replaced,
  );
}

/** A leading `~` is the home folder, also where no shell saw it. */
function fromHome(text: string): string {
  return text === '~' || text.startsWith('~/')
    ? join(homeFolder(`Write the whole path instead of ${text}.`), text.slice(1))
    : text;
}
