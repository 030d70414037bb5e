/** The folder beside the nights that holds their Iceberg tables. */
export const lakeFolder = 'lake';
