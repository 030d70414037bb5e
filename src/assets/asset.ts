import { isJsonObject, type Json, type JsonObject } from './json-value.ts';

export interface Asset extends JsonObject {
  id: string;
}

/** What a record must be to become a row: an object with an id. All else is checked column by column, and kept. */
export function isAsset(value: Json): value is Asset {
  return isJsonObject(value) && typeof value['id'] === 'string';
}
