export const loadModes = ['replace', 'scd2'] as const;
export type LoadMode = (typeof loadModes)[number];

/** What becomes of assets that the export does not have. */
export const deleteRules = ['delete', 'keep', 'mark'] as const;
export type DeleteRule = (typeof deleteRules)[number];

/** How rows got into the tables, as `_asset_export_loads` records it. */
export type LoadWay = 'by changes' | 'by comparing' | 'into empty tables' | 'new file';
