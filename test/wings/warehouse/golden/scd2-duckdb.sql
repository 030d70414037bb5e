-- The rows of the export, in tables of their own.

DROP TABLE IF EXISTS temp."asset_export_stage_creators";

DROP TABLE IF EXISTS temp."asset_export_stage_changes";

CREATE TEMPORARY TABLE "asset_export_stage_creators" AS SELECT "asset_id", "position", "address", "share", "verified", "extra" FROM "creators" WHERE 1 = 0;

INSERT INTO "asset_export_stage_creators" BY NAME
SELECT * FROM read_parquet([
    '@stage/demo/parquet/creators/part-00000.parquet'
  ], hive_partitioning = false);

CREATE TEMPORARY TABLE "asset_export_stage_changes" AS SELECT CAST(NULL AS VARCHAR) AS "op", CAST(NULL AS VARCHAR) AS "reason", CAST(NULL AS TIMESTAMPTZ) AS "changed_at", "id", CAST(NULL AS VARCHAR) AS "changed", CAST(NULL AS VARCHAR) AS "before", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra" FROM "assets" WHERE 1 = 0;

INSERT INTO "asset_export_stage_changes" BY NAME
SELECT * FROM read_parquet([
    '@stage/demo/parquet/changes/part-00000.parquet'
  ], hive_partitioning = false);

BEGIN;

SELECT CASE WHEN (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 THEN 'ok' ELSE error('a stage does not hold all rows of EXPORT') END;

SELECT CASE WHEN (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND "mode" = 'scd2' AND "seal" IN ('BASE-SEAL', 'SEAL')) = 1 THEN 'ok' ELSE error('the table assets does not hold BASE, which the changes start from') END;

SELECT CASE WHEN (SELECT count(*) FROM "assets" WHERE "valid_from" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z' OR "valid_to" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z') = 0 THEN 'ok' ELSE error('the table assets holds rows that are newer than EXPORT') END;

-- To allow more deletes, raise 0.05.
SELECT CASE WHEN (SELECT count(*) FROM "asset_export_stage_changes" WHERE "op" = 'delete') <= 0.05 * (1000 + (SELECT count(*) FROM "asset_export_stage_changes" WHERE "op" = 'delete') - (SELECT count(*) FROM "asset_export_stage_changes" WHERE "op" = 'insert')) THEN 'ok' ELSE error('more than 5 % of the rows of assets would be deleted: check the export') END;

DELETE FROM "assets" WHERE "valid_from" = TIMESTAMPTZ '2026-11-20T02:00:00.000Z' AND (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND "mode" = 'scd2' AND "seal" = 'BASE-SEAL') = 1 AND (SELECT count(*) FROM "assets" WHERE "valid_from" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z' OR "valid_to" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z') = 0;

DELETE FROM "creators" WHERE "valid_from" = TIMESTAMPTZ '2026-11-20T02:00:00.000Z' AND (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND "mode" = 'scd2' AND "seal" = 'BASE-SEAL') = 1 AND (SELECT count(*) FROM "assets" WHERE "valid_from" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z' OR "valid_to" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z') = 0;

UPDATE "assets" SET "valid_to" = TIMESTAMPTZ '2026-11-20T02:00:00.000Z' WHERE "valid_to" IS NULL AND "valid_from" < TIMESTAMPTZ '2026-11-20T02:00:00.000Z' AND "id" IN (SELECT "id" FROM "asset_export_stage_changes") AND (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND "mode" = 'scd2' AND "seal" = 'BASE-SEAL') = 1 AND (SELECT count(*) FROM "assets" WHERE "valid_from" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z' OR "valid_to" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z') = 0;

INSERT INTO "assets" ("id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra", "valid_from")
SELECT "id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra", TIMESTAMPTZ '2026-11-20T02:00:00.000Z' FROM "asset_export_stage_changes" WHERE "op" <> 'delete' AND (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND "mode" = 'scd2' AND "seal" = 'BASE-SEAL') = 1 AND (SELECT count(*) FROM "assets" WHERE "valid_from" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z' OR "valid_to" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z') = 0;

UPDATE "creators" SET "valid_to" = TIMESTAMPTZ '2026-11-20T02:00:00.000Z' WHERE "valid_to" IS NULL AND "valid_from" < TIMESTAMPTZ '2026-11-20T02:00:00.000Z' AND "asset_id" IN (SELECT "id" FROM "asset_export_stage_changes") AND (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND "mode" = 'scd2' AND "seal" = 'BASE-SEAL') = 1 AND (SELECT count(*) FROM "assets" WHERE "valid_from" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z' OR "valid_to" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z') = 0;

INSERT INTO "creators" ("asset_id", "position", "address", "share", "verified", "extra", "valid_from")
SELECT "asset_id", "position", "address", "share", "verified", "extra", TIMESTAMPTZ '2026-11-20T02:00:00.000Z' FROM "asset_export_stage_creators" WHERE "asset_id" IN (SELECT "id" FROM "asset_export_stage_changes" WHERE "op" <> 'delete') AND (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000 AND (SELECT count(*) FROM "_asset_export_loads" WHERE "table" = 'assets' AND "mode" = 'scd2' AND "seal" = 'BASE-SEAL') = 1 AND (SELECT count(*) FROM "assets" WHERE "valid_from" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z' OR "valid_to" > TIMESTAMPTZ '2026-11-20T02:00:00.000Z') = 0;

SELECT CASE WHEN (SELECT count(*) FROM "assets" WHERE "valid_to" IS NULL) = 1000 THEN 'ok' ELSE error('the table assets would not hold 1000 rows, because it was changed: restore it from a backup') END;

SELECT CASE WHEN (SELECT count(*) FROM "creators" WHERE "valid_to" IS NULL) = 1000 THEN 'ok' ELSE error('the table creators would not hold 1000 rows, because it was changed: restore it from a backup') END;

UPDATE "_asset_export_loads" SET "seal" = 'SEAL', "base_seal" = 'BASE-SEAL', "mode" = 'scd2', "at" = CURRENT_TIMESTAMP, "export" = 'EXPORT', "started_at" = TIMESTAMPTZ '2026-11-20T02:00:00.000Z', "rows" = CASE "table" WHEN 'assets' THEN 1000 WHEN 'creators' THEN 1000 END WHERE "table" IN ('assets', 'creators') AND "seal" = 'BASE-SEAL' AND "mode" = 'scd2' AND (SELECT count(*) FROM "asset_export_stage_changes") = 1000 AND (SELECT count(*) FROM "asset_export_stage_creators") = 1000;

COMMIT;

DROP TABLE IF EXISTS temp."asset_export_stage_creators";

DROP TABLE IF EXISTS temp."asset_export_stage_changes";
