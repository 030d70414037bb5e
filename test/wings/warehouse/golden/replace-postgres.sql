-- The rows of the export, in tables of their own.
DROP TABLE IF EXISTS pg_temp."asset_export_stage_assets", pg_temp."asset_export_stage_creators";

CREATE TEMPORARY TABLE "asset_export_stage_assets" AS SELECT "id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra" FROM "assets" WHERE 1 = 0;

\copy "asset_export_stage_assets" ("id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra") FROM '@stage/demo/csv/assets/part-00000.csv' WITH (FORMAT csv, HEADER true)

CREATE TEMPORARY TABLE "asset_export_stage_creators" AS SELECT "asset_id", "position", "address", "share", "verified", "extra" FROM "creators" WHERE 1 = 0;

\copy "asset_export_stage_creators" ("asset_id", "position", "address", "share", "verified", "extra") FROM '@stage/demo/csv/creators/part-00000.csv' WITH (FORMAT csv, HEADER true)

BEGIN;
SET LOCAL row_security = off;
LOCK TABLE "assets", "creators" IN SHARE ROW EXCLUSIVE MODE;

-- The guard. To allow more deletes, raise 0.05.
DO $script$ BEGIN IF NOT ((SELECT count(*) FROM "asset_export_stage_assets") = 1000
  AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000) THEN RAISE EXCEPTION USING MESSAGE = 'a stage does not hold all rows of EXPORT'; END IF;
IF NOT ((SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND ("mode" = 'scd2' OR "started_at" > CAST('2026-11-20T02:00:00.000Z' AS timestamp with time zone))) = 0) THEN RAISE EXCEPTION USING MESSAGE = 'the table assets holds versions (scd2) or a newer export than EXPORT'; END IF;
IF NOT ((SELECT count(*) FROM "assets") - (SELECT count(*) FROM "assets" AS t INNER JOIN "asset_export_stage_assets" AS s ON t."id" = s."id") <= 0.05 * (SELECT count(*) FROM "assets")) THEN RAISE EXCEPTION USING MESSAGE = 'more than 5 % of the rows of assets would be deleted: check the export'; END IF; END $script$;

DELETE FROM "assets";
INSERT INTO "assets" ("id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra") SELECT s.* FROM "asset_export_stage_assets" AS s;

DELETE FROM "creators";
INSERT INTO "creators" ("asset_id", "position", "address", "share", "verified", "extra") SELECT s.* FROM "asset_export_stage_creators" AS s;

DO $script$ BEGIN IF NOT ((SELECT count(*) FROM "assets") = 1000
  AND (SELECT count(*) FROM "creators") = 1000) THEN RAISE EXCEPTION USING MESSAGE = 'the tables would not hold the rows of EXPORT, because they were changed: look for triggers, rules and other writers, and run the script again'; END IF; END $script$;

DELETE FROM "_asset_export_loads" WHERE "table" IN ('assets', 'creators');

INSERT INTO "_asset_export_loads" ("table", "rows", "seal", "mode", "at", "export", "started_at")
SELECT loaded, held, 'SEAL', 'replace', CURRENT_TIMESTAMP, 'EXPORT', CAST('2026-11-20T02:00:00.000Z' AS timestamp with time zone) FROM (
  SELECT 'assets' AS loaded, 1000 AS held
  UNION ALL SELECT 'creators' AS loaded, 1000 AS held
) AS x;

COMMIT;
