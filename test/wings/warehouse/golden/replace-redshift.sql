-- The rows of the export, in tables of their own.

DROP TABLE IF EXISTS "asset_export_stage_assets";

DROP TABLE IF EXISTS "asset_export_stage_creators";

CREATE TABLE "asset_export_stage_assets" AS SELECT "id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra" FROM "assets" WHERE 1 = 0;

COPY "asset_export_stage_assets"
FROM '@stage/demo/parquet/assets/part-'
IAM_ROLE default
FORMAT PARQUET;

CREATE TABLE "asset_export_stage_creators" AS SELECT "asset_id", "position", "address", "share", "verified", "extra" FROM "creators" WHERE 1 = 0;

COPY "asset_export_stage_creators"
FROM '@stage/demo/parquet/creators/part-'
IAM_ROLE default
FORMAT PARQUET;

BEGIN;

SELECT CAST(CASE WHEN (SELECT count(*) FROM "asset_export_stage_assets") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 THEN '0' ELSE 'a stage does not hold all rows of EXPORT' END AS INTEGER);

SELECT CAST(CASE WHEN (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND ("mode" = 'scd2' OR "started_at" > CAST('2026-11-20 02:00:00.000' AS TIMESTAMP))) = 0 THEN '0' ELSE 'the table assets holds versions (scd2) or a newer export than EXPORT' END AS INTEGER);

-- To allow more deletes, raise 0.05.
SELECT CAST(CASE WHEN (SELECT count(*) FROM "assets") - (SELECT count(*) FROM "assets" AS t INNER JOIN "asset_export_stage_assets" AS s ON t."id" = s."id") <= 0.05 * (SELECT count(*) FROM "assets") THEN '0' ELSE 'more than 5 % of the rows of assets would be deleted: check the export' END AS INTEGER);

DELETE FROM "assets" WHERE (SELECT count(*) FROM "asset_export_stage_assets") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND ("mode" = 'scd2' OR "started_at" > CAST('2026-11-20 02:00:00.000' AS TIMESTAMP))) = 0;

INSERT INTO "assets" ("id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra")
SELECT "id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra" FROM "asset_export_stage_assets" WHERE (SELECT count(*) FROM "asset_export_stage_assets") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND ("mode" = 'scd2' OR "started_at" > CAST('2026-11-20 02:00:00.000' AS TIMESTAMP))) = 0;

DELETE FROM "creators" WHERE (SELECT count(*) FROM "asset_export_stage_assets") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND ("mode" = 'scd2' OR "started_at" > CAST('2026-11-20 02:00:00.000' AS TIMESTAMP))) = 0;

INSERT INTO "creators" ("asset_id", "position", "address", "share", "verified", "extra")
SELECT "asset_id", "position", "address", "share", "verified", "extra" FROM "asset_export_stage_creators" WHERE (SELECT count(*) FROM "asset_export_stage_assets") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND ("mode" = 'scd2' OR "started_at" > CAST('2026-11-20 02:00:00.000' AS TIMESTAMP))) = 0;

SELECT CAST(CASE WHEN (SELECT count(*) FROM "assets") = 1000 THEN '0' ELSE 'the table assets would not hold 1000 rows, because it was changed: look for triggers, rules and other writers, and run the script again' END AS INTEGER);

SELECT CAST(CASE WHEN (SELECT count(*) FROM "creators") = 1000 THEN '0' ELSE 'the table creators would not hold 1000 rows, because it was changed: look for triggers, rules and other writers, and run the script again' END AS INTEGER);

DELETE FROM "_asset_export_loads" WHERE "table" IN ('assets', 'creators') AND (SELECT count(*) FROM "asset_export_stage_assets") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND ("mode" = 'scd2' OR "started_at" > CAST('2026-11-20 02:00:00.000' AS TIMESTAMP))) = 0;

INSERT INTO "_asset_export_loads" ("table", "seal", "mode", "at", "export", "rows", "started_at")
SELECT 'assets', 'SEAL', 'replace', GETDATE(), 'EXPORT', 1000, CAST('2026-11-20 02:00:00.000' AS TIMESTAMP) FROM (SELECT 1 AS one) AS x WHERE (SELECT count(*) FROM "asset_export_stage_assets") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND ("mode" = 'scd2' OR "started_at" > CAST('2026-11-20 02:00:00.000' AS TIMESTAMP))) = 0
UNION ALL SELECT 'creators', 'SEAL', 'replace', GETDATE(), 'EXPORT', 1000, CAST('2026-11-20 02:00:00.000' AS TIMESTAMP) FROM (SELECT 1 AS one) AS x WHERE (SELECT count(*) FROM "asset_export_stage_assets") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND ("mode" = 'scd2' OR "started_at" > CAST('2026-11-20 02:00:00.000' AS TIMESTAMP))) = 0;

COMMIT;

DROP TABLE IF EXISTS "asset_export_stage_assets";

DROP TABLE IF EXISTS "asset_export_stage_creators";
