/** What a new user may type, as one line of a shell without quotes; `URL`, `TLS`, `ID` and `DEAD` stand for what a run of the test has. */
export interface Mistake {
  readonly line: string;
  /** What its message names to be typed next: lines of this program, or of a shell. */
  readonly next?: readonly string[];
}

const demo = '--url embedded:records.jsonl';
const plan = (ids: string): string => `asset-export plan --ids ${ids} ${demo} --out new`;
const toNew = '--url URL --out new';

/** A wrong word in the place of a job, an export or a list. */
const words: readonly Mistake[] = [
  { line: 'plan ids.txt', next: [plan('ids.txt')] },
  { line: 'run ids.txt --url URL', next: [plan('ids.txt')] },
  { line: 'plan ids.json', next: [plan('ids.json')] },
  { line: 'plan ids.txt other.txt', next: [plan('ids.txt other.txt')] },
  { line: 'run out/done', next: ['asset-export status out/done'] },
  { line: 'schema out/done', next: ['asset-export schema --of out/done'] },
  { line: 'plan nights', next: ['asset-export status nights'] },
  { line: 'plan job.yml', next: ['asset-export help job'] },
  { line: 'verify ids.txt', next: [`asset-export run --ids ids.txt ${demo} --out new`, 'asset-export verify new'] },
  { line: 'status nothing', next: [`asset-export run --ids ids.txt ${demo} --out new`, 'asset-export status new'] },
  { line: 'status empty', next: [`asset-export run --ids ids.txt ${demo} --out empty`, 'asset-export status empty'] },
  { line: 'rebuild empty --out new' },
  { line: `get nothing ${demo}` },
  { line: `get ID,other ${demo}` },
  { line: 'get ID', next: [`asset-export get ID ${demo}`] },
  { line: 'exprot', next: ['asset-export run --help', 'asset-export help'] },
  { line: 'docs', next: ['asset-export help'] },
  {
    line: 'run',
    next: ['asset-export init mine --yes --ids ids.txt --url embedded:records.jsonl --out new', 'asset-export demo'],
  },
  { line: 'help jobs', next: ['asset-export help job'] },
  { line: '--url URL run', next: ['asset-export help'] },
];

/** Files that are no list of ids, or whose ids are not found at once. */
const lists: readonly Mistake[] = [
  { line: `plan --ids nofile.txt ${toNew}` },
  { line: `plan --ids none/*.txt ${toNew}` },
  { line: `plan --ids page.html ${toNew}` },
  { line: `plan --ids signatures.txt ${toNew}` },
  { line: `plan --ids evm.txt ${toNew}` },
  {
    line: `plan --ids links.txt ${toNew}`,
    next: ["grep -oE '[1-9A-HJ-NP-Za-km-z]{32,44}' < links.txt > links.ids.txt", plan('links.ids.txt')],
  },
  { line: `plan --ids two.csv ${toNew}`, next: [plan('two.csv --id-column token')] },
  { line: `plan --ids two.csv --id-column mnt ${toNew}`, next: [plan('two.csv --id-column token')] },
  {
    line: `plan --ids titled.csv ${toNew}`,
    next: ['tail -n +3 < titled.csv > titled.ids.csv', plan('titled.ids.csv')],
  },
  {
    line: `plan --ids wallets.json ${toNew}`,
    next: ["jq -r '.[].mints[]' < wallets.json > wallets.ids.txt", plan('wallets.ids.txt')],
  },
  {
    line: `plan --ids pairs.txt ${toNew}`,
    next: [
      "tr -s ', \\t' '\\n' < pairs.txt > pairs.ids.txt",
      plan('pairs.ids.txt'),
      plan('headed.txt --ids-format csv --id-column mint'),
    ],
  },
  {
    line: `plan --ids wide.txt ${toNew}`,
    next: ['iconv -f UTF-16 -t UTF-8 < wide.txt > wide.ids.txt', plan('wide.ids.txt')],
  },
  { line: `plan --ids book.xlsx ${toNew}` },
  { line: `plan --ids lfs.txt ${toNew}` },
  { line: `run --ids nothing.txt ${demo} --out new` },
  {
    line: `run --ids owners.csv ${demo} --out new`,
    next: [`asset-export run --ids owners.csv ${demo} --out new --allow-none`],
  },
];

/** Addresses and keys. */
const services: readonly Mistake[] = [
  {
    line: 'run --ids ids.txt --url service.example --out new',
    next: ['asset-export plan --ids ids.txt --url https://service.example --out new'],
  },
  { line: 'run --ids ids.txt --url https://service.example/v3/0123456789 --out new' },
  { line: 'run --ids ids.txt --url https://service.example?api-key=0123456789 --out new' },
  { line: 'run --ids ids.txt --url embedded:none.jsonl --out new', next: ['asset-export demo asset-export-demo'] },
  { line: `check --ids ids.txt --url TLS --out new --api-key-file key` },
  { line: `check --ids ids.txt --url DEAD --out new --api-key-file key` },
  { line: `check --ids ids.txt --url URL --out new --api-key-file wrong.key --call` },
  { line: `check --ids ids.txt --url URL/other --out new --api-key-file key --call` },
  {
    line: `run --ids ids.txt ${toNew}`,
    next: [
      `asset-export run --ids ids.txt ${toNew} --api-key-file key`,
      'asset-export demo',
      'asset-export run --ids ids.txt --url embedded:asset-export-demo --out another',
    ],
  },
  {
    line: `plan --ids ids.txt ${toNew} --api-key 0123456789`,
    next: [`asset-export run --ids ids.txt ${toNew} --api-key-file key`],
  },
  { line: `run --ids ids.txt ${toNew} --api-key-file none.key` },
  { line: `run --ids ids.txt ${toNew} --api-key-file empty.key` },
  { line: `run --ids ids.txt ${toNew} --api-key-file quoted.key` },
  { line: `run --ids ids.txt ${toNew} --dialect helious`, next: ['asset-export help dialects'] },
  {
    line: 'ids --wallet ID --out list.txt --url URL',
    next: ['asset-export ids --owner ID --out list.txt --url URL --api-key-file key'],
  },
  { line: 'ids --collection short --out list.txt --url URL' },
];

/** Folders, buckets and databases. */
const places: readonly Mistake[] = [
  { line: `run --ids ids.txt ${demo} --out letters` },
  { line: `run --ids ids.txt ${demo} --out ids.txt` },
  {
    line: `run --ids ids.txt ${demo} --out out/{day}`,
    next: [`asset-export plan --ids ids.txt ${demo} --out out/{date}`],
  },
  { line: `run --ids ids.txt ${demo} --out s3a://bucket/x` },
  {
    line: `run --ids ids.txt ${demo} --out out/done --format csv,jsonl --tables assets,creators`,
    next: [
      'asset-export rebuild out/done --format csv,jsonl --tables assets,creators --out NEW',
      `asset-export run --ids ids.txt ${demo} --out out/done --format csv --fresh`,
    ],
  },
  { line: 'load out/done', next: ['asset-export load out/done --to duckdb:a.duckdb'] },
  { line: 'load out/done --to a.duckdb', next: ['asset-export load out/done --to duckdb:a.duckdb'] },
  { line: 'load out/done --to duckdb:out/done', next: ['asset-export load out/done --to duckdb:out/done.duckdb'] },
  { line: 'load out/done --to duckdb:ids.txt', next: ['asset-export load out/done --to duckdb:ids.txt.duckdb'] },
  { line: 'rebuild out/done --format csv', next: ['asset-export rebuild out/done --format csv --out new'] },
  { line: 'status s3://bucket/x' },
  { line: `check --ids ids.txt ${demo} --out s3://bucket/x --out-endpoint DEAD` },
  {
    line: 'prune nights',
    next: ['last', 'daily', 'weekly', 'monthly'].map((rule) => `asset-export prune nights --keep-${rule} 1`),
  },
];

/** Flags, values and job files. */
const flags: readonly Mistake[] = [
  { line: `run ${toNew}`, next: ['asset-export help job', 'asset-export run --help'] },
  { line: `run --ids ids.txt ${demo} --out new --format xlsx` },
  {
    line: `run --ids ids.txt ${demo} --out new -f csv`,
    next: [`asset-export run --ids ids.txt ${demo} --out new --format csv,parquet`],
  },
  {
    line: `run --ids ids.txt ${demo} --out new --table asets`,
    next: [`asset-export run --ids ids.txt ${demo} --out new --tables assets`],
  },
  {
    line: `run --ids ids.txt ${demo} --out new --credits-per-day 3.000`,
    next: [`asset-export run --ids ids.txt ${demo} --out new --credits-per-day 3000`],
  },
  {
    line: `run --ids ids.txt ${demo} --out new --credits-per-run 100`,
    next: [`asset-export run --ids ids.txt ${demo} --out new --credits-per-run 100 --credits-per-call 100`],
  },
  { line: `run --ids ids.txt ${demo} --out new --columns id,nme`, next: ['asset-export schema'] },
  {
    line: `run --ids ids.txt ${demo} --out new --dry-run`,
    next: ['asset-export plan job.yaml', 'asset-export rehearse job.yaml'],
  },
  {
    line: `run --ids ids.txt ${demo} --out new --no-singels`,
    next: [`asset-export run --ids ids.txt ${demo} --out new --no-singles`],
  },
  { line: 'run typo.yaml', next: [`asset-export plan job.yaml ${demo}`] },
  { line: 'plan list.yaml', next: ['asset-export init an-example --yes'] },
  { line: 'run tabs.yaml' },
  { line: 'schema --for oracle', next: ['asset-export schema --for duckdb'] },
  { line: 'init job --example spredsheet --yes', next: ['asset-export init job --example spreadsheet --yes'] },
  { line: 'init job --ids two.csv --yes', next: ['asset-export init job --ids two.csv --yes --id-column token'] },
  { line: 'credits set many', next: ['asset-export credits --help'] },
  { line: 'serve', next: ['asset-export demo', 'asset-export serve --assets asset-export-demo --help'] },
  { line: 'completion tcsh', next: ['asset-export completion bash'] },
];

export const mistakes: readonly Mistake[] = [...words, ...lists, ...services, ...places, ...flags];
