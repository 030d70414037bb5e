import { MemoryObjects } from '../../support/memory-objects.ts';
import { describeObjectStore } from './object-contract.ts';

// The models of the tests stand on it.
describeObjectStore({ name: 'memory (of the tests)', open: () => Promise.resolve(new MemoryObjects().open()) });
