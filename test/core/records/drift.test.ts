import { describe, expect, it } from 'vitest';
import {
  createDriftCounter,
  type Drift,
  type DriftCounter,
  driftPath,
  otherPaths,
} from '../../../src/core/records/drift.ts';

const unknown = (path: string): Drift => ({ path, kind: 'unknownField' });

function addAll(counter: DriftCounter, id: string, drifts: readonly Drift[]): void {
  for (const drift of drifts) counter.add(drift, () => id);
}

describe('createDriftCounter', () => {
  it('sums by kind and path and keeps the first id', () => {
    const counter = createDriftCounter();
    addAll(counter, 'a', [unknown('plugins'), { path: 'interface', kind: 'unknownValue' }]);
    addAll(counter, 'b', [unknown('plugins'), unknown('lamports'), { path: 'plugins', kind: 'misfit' }]);
    expect(counter.list()).toEqual([
      { kind: 'misfit', path: 'plugins', count: 1, sampleId: 'b' },
      { kind: 'unknownField', path: 'lamports', count: 1, sampleId: 'b' },
      { kind: 'unknownField', path: 'plugins', count: 2, sampleId: 'a' },
      { kind: 'unknownValue', path: 'interface', count: 1, sampleId: 'a' },
    ]);
  });

  it('asks for the id of no asset but the first that shows a drift', () => {
    const counter = createDriftCounter();
    const asked: string[] = [];
    for (const id of ['a', 'b', 'c']) {
      counter.add(unknown('plugins'), () => {
        asked.push(id);
        return id;
      });
    }
    expect(asked).toEqual(['a']);
  });

  it('gives the same counts for parts merged in order as for one', () => {
    const [whole, first, second, merged] = [
      createDriftCounter(),
      createDriftCounter(),
      createDriftCounter(),
      createDriftCounter(),
    ];
    for (let n = 0; n < 2000; n += 1) {
      const drifts = [unknown(`field${n % 700}`), unknown('always')];
      addAll(whole, `id${n}`, drifts);
      addAll(n < 650 ? first : second, `id${n}`, drifts);
    }
    merged.merge(first.list());
    merged.merge(second.list());
    const sum = (list: { count: number }[]): number => list.reduce((total, { count }) => total + count, 0);
    expect(sum(merged.list())).toBe(4000);
    expect(merged.list().find(({ path }) => path === 'always')).toEqual(
      whole.list().find(({ path }) => path === 'always'),
    );
    expect(JSON.parse(JSON.stringify(merged.list()))).toEqual(merged.list());
  });

  it('sums the rest under one path when names are too many', () => {
    const counter = createDriftCounter();
    for (let n = 0; n < 100_000; n += 1) addAll(counter, `id${n}`, [unknown(`field${n}`)]);
    const list = counter.list();
    expect(list.length).toBeLessThan(600);
    expect(list.find(({ path }) => path === otherPaths)?.count).toBe(100_000 - (list.length - 1));
  });
});

describe('driftPath', () => {
  it('joins plain names by dots and quotes others', () => {
    expect(driftPath('', 'content')).toBe('content');
    expect(driftPath('content', '$schema')).toBe('content.$schema');
    expect(driftPath('content', 'a\nb')).toBe(String.raw`content["a\nb"]`);
    expect(driftPath('', '')).toBe('[""]');
    expect(driftPath('', '\u001b[31m\u009b\u202e')).toBe(String.raw`["\u001b[31m\u009b\u202e"]`);
  });

  it('stays short', () => {
    expect(driftPath('x'.repeat(150), 'y'.repeat(150))).toHaveLength(200);
    expect(driftPath('x', ' '.repeat(1000))).toHaveLength(200);
  });
});
