export type ChangeLoadMode = 'merge' | 'scd2';
export const loadModes = ['replace', 'merge', 'scd2'] as const;
export type LoadMode = (typeof loadModes)[number];
