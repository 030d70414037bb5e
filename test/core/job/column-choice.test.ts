import { describe, expect, it } from 'vitest';
import { loadJob } from '../../../src/core/job/load-job.ts';

function load(flags: Readonly<Record<string, unknown>>): unknown {
  const given = { ids: 'a', url: 'http://localhost', out: 'out', ...flags };
  return loadJob({ flags: given, environment: {}, folder: '/' }).job.output;
}

describe('the choice of columns', () => {
  it('takes names of columns of assets, and other names for them', () => {
    expect(load({ columns: 'id,burnt,mutable', exclude: 'burnt', rename: 'id=asset' })).toMatchObject({
      columns: ['id', 'burnt', 'mutable'],
      exclude: ['burnt'],
      rename: { id: 'asset' },
    });
  });

  it.each([
    [{ columns: 'id,content_json_url' }, 'did you mean content_json_uri?'],
    [{ exclude: 'burn' }, 'did you mean burnt?'],
    [{ rename: 'mutabel=m' }, 'did you mean mutable?'],
    [{ columns: 'zzzzzzzz' }, 'see asset-export schema'],
    [{ columns: 'exported_at' }, 'must name columns of assets'],
    [{ columns: 'id,id' }, 'must name each column once'],
    [{ columns: 'id', exclude: 'id' }, 'must leave at least one column'],
    [{ rename: 'id=BURNT' }, 'id and burnt would be the same'],
    [{ rename: 'id=a b' }, 'must use letters, digits and _'],
  ])('refuses %j: %s', (flags, words) => {
    expect(() => load(flags)).toThrow(words);
  });

  it('takes exported_at where it is asked for', () => {
    const flags = { columns: 'exported_at,id', 'exported-at': true, rename: 'exported_at=at' };
    expect(load(flags)).toMatchObject({ exportedAt: true });
  });
});
