import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createDriftCounter, type Drift, driftPath, otherPaths } from '../../src/assets/drift.ts';

const unknown = (path: string): Drift => ({ path, kind: 'unknownField' });

describe('createDriftCounter', () => {
  it('sums by kind and path and keeps the first id', () => {
    const counter = createDriftCounter();
    counter.add('a', [unknown('plugins'), { path: 'interface', kind: 'unknownValue' }]);
    counter.add('b', [unknown('plugins'), unknown('lamports'), { path: 'plugins', kind: 'misfit' }]);
    expect(counter.list()).toEqual([
      { kind: 'misfit', path: 'plugins', count: 1, sampleId: 'b' },
      { kind: 'unknownField', path: 'lamports', count: 1, sampleId: 'b' },
      { kind: 'unknownField', path: 'plugins', count: 2, sampleId: 'a' },
      { kind: 'unknownValue', path: 'interface', count: 1, sampleId: 'a' },
    ]);
  });

  it('keeps an id, and not the block of text that it was cut from', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const counted = (index: number) => {
      const block = Buffer.alloc(500_000, `${index}`).toString('latin1');
      const counter = createDriftCounter();
      counter.add(block.slice(100, 144), [unknown('plugins')]);
      return counter.list();
    };
    collect();
    const before = process.memoryUsage().heapUsed;
    const lists = Array.from({ length: 100 }, (_, index) => counted(index));
    collect();
    expect(lists).toHaveLength(100);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(5e6);
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
      whole.add(`id${n}`, drifts);
      (n < 650 ? first : second).add(`id${n}`, drifts);
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
    for (let n = 0; n < 100_000; n += 1) counter.add(`id${n}`, [unknown(`field${n}`)]);
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
