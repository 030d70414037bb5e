/** Whether a job publishes its nights as Iceberg tables. `none` is the same as no name. */
export function hasLake({ output }: { readonly output: { readonly lake: readonly string[] } }): boolean {
  return output.lake.includes('iceberg');
}
