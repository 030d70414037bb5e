-- The rows of the export, in tables of their own.

DROP TABLE IF EXISTS `asset_export_stage_assets`;

DROP TABLE IF EXISTS `asset_export_stage_creators`;

DROP TABLE IF EXISTS `asset_export_stage_assets_gate`;

DROP TABLE IF EXISTS `asset_export_stage_assets_passed`;

DROP TABLE IF EXISTS `asset_export_stage_assets_ready`;

DROP TABLE IF EXISTS `asset_export_stage_creators_ready`;

CREATE TABLE `asset_export_stage_assets` AS `assets`;

INSERT INTO `asset_export_stage_assets` (`id`, `interface`, `content_schema`, `content_json_uri`, `content_files`, `content_metadata_name`, `content_metadata_symbol`, `content_metadata_description`, `content_metadata_attributes`, `content_metadata_token_standard`, `content_links`, `authorities`, `ownership_owner`, `ownership_frozen`, `ownership_delegated`, `ownership_delegate`, `ownership_ownership_model`, `compression_eligible`, `compression_compressed`, `compression_data_hash`, `compression_creator_hash`, `compression_asset_hash`, `compression_tree`, `compression_seq`, `compression_leaf_id`, `royalty_royalty_model`, `royalty_target`, `royalty_percent`, `royalty_basis_points`, `royalty_primary_sale_happened`, `royalty_locked`, `creators`, `grouping`, `collection`, `uses_use_method`, `uses_remaining`, `uses_total`, `supply_print_max_supply`, `supply_print_current_supply`, `supply_edition_nonce`, `mutable`, `burnt`, `token_info_supply`, `token_info_decimals`, `token_info_token_program`, `token_info_mint_authority`, `token_info_freeze_authority`, `extra`)
FROM INFILE '@stage/demo/parquet/assets/part-*.parquet'
FORMAT Parquet;

CREATE TABLE `asset_export_stage_creators` AS `creators`;

INSERT INTO `asset_export_stage_creators` (`asset_id`, `position`, `address`, `share`, `verified`, `extra`)
FROM INFILE '@stage/demo/parquet/creators/part-*.parquet'
FORMAT Parquet;

SELECT throwIf(NOT ((SELECT count(*) FROM `asset_export_stage_assets`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators`) = 1000), 'a stage does not hold all rows of EXPORT') FORMAT Null;

SELECT throwIf(NOT ((SELECT count(*) FROM `_asset_export_loads` WHERE `table` = 'assets' AND (`mode` = 'scd2' OR `started_at` > toDateTime64('2026-11-20 02:00:00.000', 6, 'UTC'))) = 0), 'the table assets holds versions (scd2) or a newer export than EXPORT') FORMAT Null;

-- To allow more deletes, raise 0.05.
SELECT throwIf(NOT ((SELECT count(*) FROM `assets`) - (SELECT count(*) FROM `assets` AS t INNER JOIN `asset_export_stage_assets` AS s ON t.`id` = s.`id`) <= 0.05 * (SELECT count(*) FROM `assets`)), 'more than 5 % of the rows of assets would be deleted: check the export') FORMAT Null;

CREATE OR REPLACE TABLE `asset_export_stage_assets_gate` ENGINE = Memory AS
SELECT throwIf(NOT ((SELECT count(*) FROM `asset_export_stage_assets`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators`) = 1000 AND (SELECT count(*) FROM `_asset_export_loads` WHERE `table` = 'assets' AND (`mode` = 'scd2' OR `started_at` > toDateTime64('2026-11-20 02:00:00.000', 6, 'UTC'))) = 0), 'a stage is not complete, or the tables hold another export') AS passed;

RENAME TABLE
  `asset_export_stage_assets_gate` TO `asset_export_stage_assets_passed`,
  `asset_export_stage_assets` TO `asset_export_stage_assets_ready`,
  `asset_export_stage_creators` TO `asset_export_stage_creators_ready`;

EXCHANGE TABLES `assets` AND `asset_export_stage_assets_ready`;

EXCHANGE TABLES `creators` AND `asset_export_stage_creators_ready`;

SELECT throwIf(NOT ((SELECT count(*) FROM `assets`) = 1000), 'the table assets would not hold 1000 rows, because it was changed: look for triggers, rules and other writers, and run the script again') FORMAT Null;

SELECT throwIf(NOT ((SELECT count(*) FROM `creators`) = 1000), 'the table creators would not hold 1000 rows, because it was changed: look for triggers, rules and other writers, and run the script again') FORMAT Null;

DELETE FROM `_asset_export_loads` WHERE `table` IN ('assets', 'creators') AND (SELECT count(*) FROM `asset_export_stage_assets_passed`) = 1 AND (SELECT count(*) FROM `_asset_export_loads` WHERE `table` = 'assets' AND (`mode` = 'scd2' OR `started_at` > toDateTime64('2026-11-20 02:00:00.000', 6, 'UTC'))) = 0;

INSERT INTO `_asset_export_loads` (`table`, `seal`, `mode`, `at`, `export`, `rows`, `started_at`)
SELECT 'assets', 'SEAL', 'replace', now64(6), 'EXPORT', 1000, toDateTime64('2026-11-20 02:00:00.000', 6, 'UTC') FROM (SELECT 1 AS one) AS x WHERE (SELECT count(*) FROM `asset_export_stage_assets_passed`) = 1 AND (SELECT count(*) FROM `_asset_export_loads` WHERE `table` = 'assets' AND (`mode` = 'scd2' OR `started_at` > toDateTime64('2026-11-20 02:00:00.000', 6, 'UTC'))) = 0
UNION ALL SELECT 'creators', 'SEAL', 'replace', now64(6), 'EXPORT', 1000, toDateTime64('2026-11-20 02:00:00.000', 6, 'UTC') FROM (SELECT 1 AS one) AS x WHERE (SELECT count(*) FROM `asset_export_stage_assets_passed`) = 1 AND (SELECT count(*) FROM `_asset_export_loads` WHERE `table` = 'assets' AND (`mode` = 'scd2' OR `started_at` > toDateTime64('2026-11-20 02:00:00.000', 6, 'UTC'))) = 0;

DROP TABLE IF EXISTS `asset_export_stage_assets`;

DROP TABLE IF EXISTS `asset_export_stage_creators`;

DROP TABLE IF EXISTS `asset_export_stage_assets_gate`;

DROP TABLE IF EXISTS `asset_export_stage_assets_passed`;

DROP TABLE IF EXISTS `asset_export_stage_assets_ready`;

DROP TABLE IF EXISTS `asset_export_stage_creators_ready`;
