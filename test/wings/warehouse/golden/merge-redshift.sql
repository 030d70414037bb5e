-- The rows of the export, in tables of their own.

DROP TABLE IF EXISTS "asset_export_stage_creators";

DROP TABLE IF EXISTS "asset_export_stage_changes";

CREATE TABLE "asset_export_stage_creators" AS SELECT "asset_id", "position", "address", "share", "verified", "extra" FROM "creators" WHERE 1 = 0;

COPY "asset_export_stage_creators"
FROM '@stage/demo/parquet/creators/part-'
IAM_ROLE default
FORMAT PARQUET;

CREATE TABLE "asset_export_stage_changes" AS SELECT CAST(NULL AS VARCHAR(65535)) AS "op", CAST(NULL AS VARCHAR(65535)) AS "reason", CAST(NULL AS TIMESTAMP) AS "changed_at", "id", CAST(NULL AS VARCHAR(65535)) AS "changed", CAST(NULL AS VARCHAR(65535)) AS "before", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra" FROM "assets" WHERE 1 = 0;

COPY "asset_export_stage_changes"
FROM '@stage/demo/parquet/changes/part-'
IAM_ROLE default
FORMAT PARQUET;

BEGIN;

SELECT CAST(CASE WHEN (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 THEN '0' ELSE 'a stage does not hold all rows of EXPORT' END AS INTEGER);

SELECT CAST(CASE WHEN (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND "mode" <> 'scd2' AND "seal" IN ('BASE-SEAL', 'SEAL')) = 1 THEN '0' ELSE 'the table assets does not hold BASE, which the changes start from' END AS INTEGER);

-- To allow more deletes, raise 0.05.
SELECT CAST(CASE WHEN (SELECT count(*) FROM "asset_export_stage_changes" WHERE "op" = 'delete') <= 0.05 * (1000 + (SELECT count(*) FROM "asset_export_stage_changes" WHERE "op" = 'delete') - (SELECT count(*) FROM "asset_export_stage_changes" WHERE "op" = 'insert')) THEN '0' ELSE 'more than 5 % of the rows of assets would be deleted: check the export' END AS INTEGER);

DELETE FROM "assets" WHERE "id" IN (SELECT "id" FROM "asset_export_stage_changes") AND (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND "mode" <> 'scd2' AND "seal" = 'BASE-SEAL') = 1;

INSERT INTO "assets" ("id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra")
SELECT "id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra" FROM "asset_export_stage_changes" WHERE "op" <> 'delete' AND (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND "mode" <> 'scd2' AND "seal" = 'BASE-SEAL') = 1;

DELETE FROM "creators" WHERE "asset_id" IN (SELECT "id" FROM "asset_export_stage_changes") AND (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND "mode" <> 'scd2' AND "seal" = 'BASE-SEAL') = 1;

INSERT INTO "creators" ("asset_id", "position", "address", "share", "verified", "extra")
SELECT "asset_id", "position", "address", "share", "verified", "extra" FROM "asset_export_stage_creators" WHERE "asset_id" IN (SELECT "id" FROM "asset_export_stage_changes" WHERE "op" <> 'delete') AND (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND "mode" <> 'scd2' AND "seal" = 'BASE-SEAL') = 1;

SELECT CAST(CASE WHEN (SELECT count(*) FROM "assets") = 1000 THEN '0' ELSE 'the table assets would not hold 1000 rows, because it was changed: load the export with --mode replace' END AS INTEGER);

SELECT CAST(CASE WHEN (SELECT count(*) FROM "creators") = 1000 THEN '0' ELSE 'the table creators would not hold 1000 rows, because it was changed: load the export with --mode replace' END AS INTEGER);

UPDATE "_asset_export_loads" SET "seal" = 'SEAL', "base_seal" = 'BASE-SEAL', "mode" = 'merge', "at" = GETDATE(), "export" = 'EXPORT', "started_at" = CAST('2026-11-20 02:00:00.000' AS TIMESTAMP), "rows" = CASE "table" WHEN 'assets' THEN 1000 WHEN 'creators' THEN 1000 END WHERE "table" IN ('assets', 'creators') AND "seal" = 'BASE-SEAL' AND "mode" <> 'scd2' AND (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000;

COMMIT;

DROP TABLE IF EXISTS "asset_export_stage_creators";

DROP TABLE IF EXISTS "asset_export_stage_changes";
