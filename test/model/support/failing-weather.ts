import type { Fate, Operation, Weather } from './memory-disk.ts';

/** Which operations of a disk a failure meets. */
const opening: readonly Operation['kind'][] = ['open', 'create', 'read', 'list', 'lock', 'syncFolder'];
const growing: readonly Operation['kind'][] = ['write', 'create', 'makeFolder', 'rename', 'lock'];
const met: Readonly<Record<string, (kind: Operation['kind']) => boolean>> = {
  ENOSPC: (kind) => growing.includes(kind),
  EIO: () => true,
  EMFILE: (kind) => opening.includes(kind),
};

export interface Failure {
  readonly code: 'ENOSPC' | 'EIO' | 'EMFILE';
  /** How much of a write is written before it fails. */
  readonly writtenShare?: number;
}

/** Every failure that can meet an operation; a disk that is full takes a part of a write first, or nothing of it. */
export const failures: readonly Failure[] = [
  { code: 'ENOSPC' },
  { code: 'ENOSPC', writtenShare: 0.5 },
  { code: 'EIO' },
  { code: 'EMFILE' },
];

/** Counts operations, and lets them happen until the n-th (from 0), which meets `fate`; undefined: it happens. */
export function failingAt(n: number, fate: (operation: Operation, isFirst: boolean) => Fate | undefined): Weather {
  let count = 0;
  return (operation) => {
    const index = count;
    count += 1;
    return (index < n ? undefined : fate(operation, index === n)) ?? { kind: 'happens' };
  };
}

/** Whether such a failure meets such an operation. */
export function isMet({ kind }: Operation, { code, writtenShare }: Failure): boolean {
  return met[code]?.(kind) === true && (writtenShare === undefined || kind === 'write');
}
