import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Markup, html } from '../../../src/wings/report/page/html.ts';
import { reportPage } from '../../../src/wings/report/page/page.ts';
import type { ReportData } from '../../../src/wings/report/report-data.ts';
import { runsData } from '../../../src/wings/report/runs.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { allTables, dataOf, idOf, madeExport, tenRecords } from './made-export.ts';
import { byteSize } from '../../../src/lib/format-text.ts';
import { attributeOf, readPage, textBelow } from './read-page.ts';

/** Values that must stay text, whatever column they stand in. */
const hostile = [
  '<img src=x onerror=alert(1)>',
  '</title></script><script>alert(1)</script>',
  '"><a href="https://evil.example">x</a>',
  "' onload='alert(1)",
  '\u202egnp.exe\u202c\u200b',
  'nul \0 bell \u0007 line\nfeed',
  'lone \ud800 surrogate',
  '<!-- --><svg/onload=alert(1)>',
  '=HYPERLINK("https://evil.example")',
  'long '.repeat(200_000),
];

/** Records whose every text is hostile. */
const hostileRecords = Array.from({ length: 20 }, (_, n) => {
  const whole = hostile[n % hostile.length] ?? '';
  const text = whole.slice(0, 300);
  return {
    interface: text,
    id: idOf(n),
    content: {
      $schema: text,
      json_uri: n % 2 === 0 ? `https://${text}/` : text,
      files: [{ uri: whole, mime: text }],
      metadata: {
        name: whole,
        symbol: text,
        description: whole,
        attributes: Array.from({ length: n === 0 ? 500 : 2 }, (_value, t) => ({
          trait_type: `${text.slice(0, 40)}${t}`,
          value: text.slice(0, 99),
        })),
      },
      links: { image: text },
      [text.slice(0, 60)]: text.slice(0, 60),
    },
    authorities: [{ address: text, scopes: [text.slice(0, 99)] }],
    ownership: { owner: text, ownership_model: text },
    royalty: { royalty_model: text, target: text },
    creators: [{ address: text, share: 1 }],
    grouping: [
      { group_key: 'collection', group_value: text.slice(0, 99), collection_metadata: { name: text.slice(0, 99) } },
    ],
  };
});

let kept: Awaited<ReturnType<typeof keptFolder>>;
let plain: ReportData;
let attacked: ReportData;

beforeAll(async () => {
  kept = await keptFolder();
  const flags = ['--format', 'parquet', '--tables', allTables];
  const ids = [...tenRecords.map((record) => (record as { id: string }).id), idOf(90), 'no id', idOf(1)];
  plain = await dataOf(await madeExport({ cwd: kept.path, out: 'plain', flags, ids }));
  const wrong = hostile.map((text) => text.slice(0, 3000).replaceAll('\n', ' '));
  attacked = await dataOf(
    await madeExport({
      cwd: kept.path,
      out: '<b>&"\u202e',
      records: hostileRecords,
      flags,
      ids: [...hostileRecords.map(({ id }) => id), ...wrong],
    }),
  );
}, 120_000);

afterAll(() => kept.remove());

const headings = [
  ...['What became of every id', 'How the run went', 'What the assets are', 'Every column', 'Drift', 'Not exported'],
  ...['What to do next', 'Facts'],
];

describe('the page', () => {
  it('has the eight sections, is well-formed and refers to nothing outside', () => {
    const { errors, elements, text } = readPage(reportPage(plain));
    expect(errors).toEqual([]);
    expect(elements.filter(({ tagName }) => tagName === 'h2').map(textBelow)).toEqual(headings);
    const names = elements.flatMap(({ attrs }) => attrs.map(({ name }) => name));
    expect(names).not.toContain('style');
    expect(names.filter((name) => name.startsWith('on') || name === 'src')).toEqual([]);
    const targets = elements.flatMap((each) => attributeOf(each, 'href') ?? []);
    expect(targets.length).toBeGreaterThan(7);
    const ids = elements.flatMap((each) => attributeOf(each, 'id') ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    for (const target of targets) expect(ids).toContain(target.replace(/^#/, ''));
    expect(text).toContain('10 exported · 76.9 %');
    const sizes = elements.filter(({ tagName }) => tagName === 'td').map(textBelow);
    for (const { bytes } of plain.files) expect(sizes).toContain(byteSize(bytes));
  });

  it('allows its own style and script alone, by their hashes', () => {
    const page = reportPage(plain);
    const { elements } = readPage(page);
    const policy = elements.flatMap((each) =>
      attributeOf(each, 'http-equiv') === undefined ? [] : (attributeOf(each, 'content') ?? ''),
    )[0];
    expect(policy).toContain("default-src 'none'");
    for (const name of ['style', 'script']) {
      const [, text = ''] = new RegExp(`<${name}>([^]*?)</${name}>`).exec(page) ?? [];
      expect(policy).toContain(`'sha256-${createHash('sha256').update(text).digest('base64')}'`);
      expect(page.split(`<${name}`)).toHaveLength(2);
    }
    expect(/<script>([^]*?)<\/script>/.exec(page)?.[1]?.length).toBeLessThan(2048);
  });

  it.each(['out', 'it\'s "$HOME" `now`'])('quotes a folder for the shell and for SQL: %s', async (name) => {
    const records = tenRecords.slice(0, 1);
    const made = await madeExport({ cwd: kept.path, out: 'quoted', records, ids: [idOf(0), idOf(90)] });
    renameSync(made, join(kept.path, name));
    const { next } = await dataOf(join(kept.path, name));
    const command = next.find(({ title }) => title === 'Request the missing ids again')?.command ?? '';
    const stub =
      'duckdb() { printf "%s\\n" "$2"; }; asset-export() { for word; do last=$word; done; printf %s "$last"; }';
    const [query, again] = execFileSync('bash', ['-c', `${stub}\n${command}`], { encoding: 'utf8' }).split('\n');
    expect(query).toContain(`read_csv('${name.replaceAll("'", "''")}/unexported/*.csv*'`);
    expect(again).toBe(`${name}-again`);
  });

  it('shows hostile values as text', () => {
    const page = reportPage(attacked);
    const { errors, elements, text } = readPage(page);
    expect(errors).toEqual([]);
    const tagsOf = (data: ReportData): Set<string> =>
      new Set(readPage(reportPage(data)).elements.map(({ tagName }) => tagName));
    const known = tagsOf(plain);
    expect([...tagsOf(attacked)].filter((tag) => !known.has(tag) && tag !== 'i')).toEqual([]);
    expect(elements.filter(({ tagName }) => tagName === 'script')).toHaveLength(1);
    expect(
      elements.filter(({ tagName }) => tagName === 'a').every((each) => attributeOf(each, 'href')?.startsWith('#')),
    ).toBe(true);
    expect(elements.flatMap(({ attrs }) => attrs).filter(({ name }) => name.startsWith('on'))).toEqual([]);
    expect(elements.filter(({ tagName }) => tagName === 'h2').map(textBelow)).toEqual(headings);
    const unseen = /[\p{Cc}\p{Cs}\u200b\u202a-\u202e]/u;
    expect(unseen.exec(page.replaceAll('\n', ''))?.[0]).toBeUndefined();
    expect(text).toContain('U+202E');
    expect(text).toContain('U+0000');
    expect(text).toContain('<img src=x onerror=alert(1)>');
    expect(Buffer.byteLength(page)).toBeLessThan(500_000);
    const longest = elements.filter(({ tagName }) => tagName === 'bdi').map((each) => textBelow(each).length);
    expect(Math.max(...longest)).toBeLessThanOrEqual(240);
  });

  it('is the same for the same data', () => {
    expect(reportPage(structuredClone(plain))).toBe(reportPage(plain));
  });

  it('says what is not known without a history of the runs, and leaves out what was not counted', () => {
    const { text, errors } = readPage(
      reportPage({
        ...plain,
        runs: null,
        profile: null,
        profileMissing: 'the package @duckdb/node-api is not installed',
      }),
    );
    expect(errors).toEqual([]);
    expect(text).toContain('times, retries and pauses are not known');
    expect(text).toContain('the package @duckdb/node-api is not installed');
    expect(text).not.toContain('Every column');
  });

  it('draws 400 parts, 60 runs and gaps of days in a bounded page', () => {
    const lines = Array.from({ length: 60 }, (_, n) => {
      const t = (k: number): number => k * 1000;
      return [
        {
          kind: 'run',
          n: n + 1,
          run: 'x',
          startMs: 1_795_431_998_381 + n * 40_000_000,
          version: '1',
          concurrency: 8,
          ...limits,
        } as const,
        ...Array.from(
          { length: 10 },
          (_span, k) =>
            ({
              kind: 'span',
              t: t(k),
              ms: 1000,
              ids: 500,
              sent: 1,
              answered: 1,
              bytes: 9,
              replayed: 0,
              read: 1,
              inputBytes: 1,
              callMs: { 1: 1 },
            }) as const,
        ),
        ...Array.from(
          { length: 7 },
          (_part, k) => ({ kind: 'committed', t: t(k), part: n * 7 + k, read: 1, exported: 1 }) as const,
        ),
        { kind: 'end', t: 10_000, state: 'stopped', exit: 5, error: 'HTTP 503 <b>' } as const,
      ];
    }).flat();
    const runs = runsData(lines, false) ?? null;
    const page = reportPage({ ...plain, runs });
    expect(readPage(page).errors).toEqual([]);
    expect(readPage(page).text).toContain('420 parts were finished');
    expect(readPage(page).text).toContain('and 20 earlier');
    expect(page.length).toBeLessThan(400_000);
  });
});

const limits = { idsPerCall: 1000, creditsPerCall: 160, whenSpent: 'stop', fetched: 0, written: 0 } as const;

it('only html builds markup, and what it did not build is text', () => {
  const built = html`<p title="${'"<'}">${['a&b', html`<b>${null}${false}</b>`, 3]}</p>`;
  expect(built).toBeInstanceOf(Markup);
  expect(built.text).toBe('<p title="&quot;&lt;">a&amp;b<b></b>3</p>');
});
