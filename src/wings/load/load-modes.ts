const wholeModes = ['replace', 'append', 'upsert'] as const;
export type WholeMode = (typeof wholeModes)[number];
export const changeLoadModes = ['merge', 'scd2'] as const;
export type ChangeLoadMode = (typeof changeLoadModes)[number];
export const loadModes = [...wholeModes, ...changeLoadModes] as const;
export type LoadMode = (typeof loadModes)[number];

export function isWholeMode(mode: LoadMode): mode is WholeMode {
  return mode !== 'merge' && mode !== 'scd2';
}
