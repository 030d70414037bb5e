import { z } from 'zod';
import type { Json, JsonObject } from './json-value.ts';

/** What a record must be to become a row: an object with an id. All else is checked column by column, and kept. */
const assetSchema = z.looseObject({ id: z.string() });

export interface Asset extends JsonObject {
  id: string;
}

export function isAsset(value: Json): value is Asset {
  return assetSchema.safeParse(value).success;
}
