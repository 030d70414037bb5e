import { isJsonObject, type Json, type JsonObject } from '../../lib/json/json.ts';

/** What a service sends in place of a record: why it has none of this id. */
export interface ErrorEntry extends JsonObject {
  id: string;
  error: Json;
}

/** True for `{id, error}`. A record with an `interface` stays one, whatever else it holds. */
export function isErrorEntry(value: Asset): value is ErrorEntry {
  const { error } = value;
  return error !== undefined && error !== null && (value['interface'] ?? null) === null;
}

export interface Asset extends JsonObject {
  id: string;
}

/** What a record must be to become a row: an object with an id. All else is checked column by column, and kept. */
export function isAsset(value: Json): value is Asset {
  return isJsonObject(value) && typeof value['id'] === 'string';
}
