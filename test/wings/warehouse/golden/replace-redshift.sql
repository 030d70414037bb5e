-- The rows of the export, in tables of their own.
DROP TABLE IF EXISTS "asset_export_stage_assets", "asset_export_stage_creators";

CREATE TEMPORARY TABLE "asset_export_stage_assets" AS SELECT "id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra" FROM "assets" WHERE 1 = 0;

COPY "asset_export_stage_assets"
FROM '@stage/demo/parquet/assets/part-'
IAM_ROLE default
FORMAT PARQUET;

CREATE TEMPORARY TABLE "asset_export_stage_creators" AS SELECT "asset_id", "position", "address", "share", "verified", "extra" FROM "creators" WHERE 1 = 0;

COPY "asset_export_stage_creators"
FROM '@stage/demo/parquet/creators/part-'
IAM_ROLE default
FORMAT PARQUET;

BEGIN;

-- The guard. To allow more deletes, raise 0.05.
SELECT CAST(CASE
  WHEN NOT ((SELECT count(*) FROM "asset_export_stage_assets") = 1000
  AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000) THEN 'a stage does not hold all rows of EXPORT'
  WHEN NOT ((SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND ("mode" = 'scd2' OR "started_at" > CAST('2026-11-20 02:00:00.000' AS TIMESTAMP))) = 0) THEN 'the table assets holds versions (scd2) or a newer export than EXPORT'
  WHEN NOT ((SELECT count(*) FROM "assets") - (SELECT count(*) FROM "assets" AS t INNER JOIN "asset_export_stage_assets" AS s ON t."id" = s."id") <= 0.05 * (SELECT count(*) FROM "assets")) THEN 'more than 5 % of the rows of assets would be deleted: check the export'
  ELSE '1' END AS INTEGER);

DELETE FROM "assets";
INSERT INTO "assets" ("id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra") SELECT s.* FROM "asset_export_stage_assets" AS s;

DELETE FROM "creators";
INSERT INTO "creators" ("asset_id", "position", "address", "share", "verified", "extra") SELECT s.* FROM "asset_export_stage_creators" AS s;

SELECT CAST(CASE
  WHEN NOT ((SELECT count(*) FROM "assets") = 1000
  AND (SELECT count(*) FROM "creators") = 1000) THEN 'the tables would not hold the rows of EXPORT, because they were changed: look for triggers, rules and other writers, and run the script again'
  ELSE '1' END AS INTEGER);

DELETE FROM "_asset_export_loads" WHERE "table" IN ('assets', 'creators');

INSERT INTO "_asset_export_loads" ("table", "rows", "seal", "mode", "at", "export", "started_at")
SELECT loaded, held, 'SEAL', 'replace', GETDATE(), 'EXPORT', CAST('2026-11-20 02:00:00.000' AS TIMESTAMP) FROM (
  SELECT 'assets' AS loaded, 1000 AS held
  UNION ALL SELECT 'creators' AS loaded, 1000 AS held
) AS x;

COMMIT;
