import { describe, expect, it } from 'vitest';
import { loadJob } from '../../../src/core/job/load-job.ts';

const least = { ids: 'a', url: 'http://localhost', out: 'out' };

function load(flags: Readonly<Record<string, unknown>>) {
  return loadJob({ flags: { ...least, ...flags }, environment: {}, folder: '/nights' }).job;
}

function loadClasses(classes: unknown) {
  const job = {
    ids: { from: 'a' },
    service: { url: 'http://localhost' },
    output: { dir: 'out' },
    base: { from: 'none', classes },
  };
  // As a program without types may give it.
  return loadJob({ job: job as never, folder: '/nights' }).job;
}

describe('the base of a job', () => {
  it('is absent unless it is named, and its path is absolute', () => {
    expect(load({}).base.from).toBeUndefined();
    expect(load({ base: '../out/date=*' }).base).toMatchObject({ from: '/out/date=*', maxAge: '7d' });
    expect(load({ base: 'none' }).base.from).toBe('none');
  });

  it.each([
    [{ 'max-age': '7 days' }, '--max-age must be hours or days like 12h or 7d, or never, not "7 days"'],
    [{ 'base-fetched-at': 'yesterday' }, '--base-fetched-at must be a time like 2026-11-20'],
    [{ tables: 'assets,changes', base: undefined }, 'must not name changes without base.from'],
    [{ tables: 'creators' }, 'must name assets with base.from'],
    [{ format: 'raw' }, 'must include a format other than raw when base.from is set'],
    [{ rename: 'name=x,burnt=fetched_at' }, 'must name columns of assets'],
    [{ rename: 'burnt=fetched_at' }, 'fetched_at and burnt would be the same'],
    [{ rename: 'burnt=op', tables: 'assets,changes' }, 'op and burnt would be the same'],
    [{ base: undefined, 'max-age': '1d' }, '--max-age needs base.from (--base PATH, or --base none)'],
    [{ ignore: 'extra.x,owner' }, '--ignore must name columns of assets, or paths that begin with extra., not "owner"'],
    [{ ignore: 'ownership_ownr' }, 'did you mean ownership_owner?'],
  ])('refuses %j: %s', (flags, words) => {
    expect(() => load({ base: 'none', ...flags })).toThrow(words);
  });

  it('is never left out by mistake: its fields alone would request everything', () => {
    const job = { ids: { from: 'a' }, service: { url: 'http://localhost' }, output: { dir: 'out' } };
    const base = { classes: [{ when: ['burnt'], maxAge: 'never' }] };
    expect(() => loadJob({ job: { ...job, base }, folder: '/' })).toThrow('job: base.classes needs base.from');
    expect(loadJob({ job: { ...job, base: {} }, folder: '/' }).job.base.from).toBeUndefined();
  });

  it('takes no sample any more, and names the line to write instead', () => {
    const base = { from: 'none', sample: '1%' };
    // As a program without types may give it.
    const job = { ids: { from: 'a' }, service: { url: 'http://localhost' }, output: { dir: 'out' }, base } as never;
    expect(() => loadJob({ job, folder: '/' })).toThrow(
      'unknown field "base.sample": write output.tables: [assets, changes]',
    );
  });

  it('has at most 63 classes: a key has room for no more', () => {
    const classes = Array.from({ length: 63 }, () => ({ when: ['burnt'], maxAge: '1d' }));
    expect(loadClasses(classes).base.classes).toHaveLength(63);
    expect(() => loadClasses([...classes, ...classes])).toThrow('base.classes must be at most 63');
  });

  it.each([
    [[{ when: ['burnt', '!frozen'], maxAge: 'never' }], undefined],
    [[{ when: 'interface:V1_NFT', maxAge: '12h' }], undefined],
    [[{ when: ['burned'], maxAge: '1d' }], 'did you mean burnt?'],
    [[{ when: ['interface'], maxAge: '1d' }], 'must name one after the colon: interface:NAME'],
    [[{ when: ['burnt:yes'], maxAge: '1d' }], 'must be one of burnt, immutable'],
    [[{ when: ['burnt'] }], 'base.classes.0.maxAge'],
  ])('takes classes of known words alone: %j', (classes, words) => {
    if (words === undefined) expect(loadClasses(classes).base.classes).toHaveLength(1);
    else expect(() => loadClasses(classes)).toThrow(words);
  });
});
