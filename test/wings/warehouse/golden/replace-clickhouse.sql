-- The rows of the export, in tables of their own.
DROP TABLE IF EXISTS `asset_export_stage_assets`, `asset_export_stage_creators`, `asset_export_stage_assets_types`, `asset_export_stage_assets_passed`, `asset_export_stage_assets_passed_guard`, `asset_export_stage_assets_ready`, `asset_export_stage_creators_ready`;

-- A column that does not hold every value of the export ends the script here.
CREATE OR REPLACE TABLE `asset_export_stage_assets_types` ENGINE = Memory AS
SELECT toInt8(concat('the column ', table, '.', name, ' is ', type, ', which would change values. Its type must be ', wanted.1)) AS misfit
FROM (
  SELECT table, name, type, multiIf(
    (table, name) IN (('assets', 'id'), ('creators', 'asset_id')), ('String', '^(LowCardinality\\()?(Nullable\\()?String\\)*$'),
    (table, name) IN (('assets', 'interface'), ('assets', 'content_schema'), ('assets', 'content_json_uri'), ('assets', 'content_files'), ('assets', 'content_metadata_name'), ('assets', 'content_metadata_symbol'), ('assets', 'content_metadata_description'), ('assets', 'content_metadata_attributes'), ('assets', 'content_metadata_token_standard'), ('assets', 'content_links'), ('assets', 'authorities'), ('assets', 'ownership_owner'), ('assets', 'ownership_delegate'), ('assets', 'ownership_ownership_model'), ('assets', 'compression_data_hash'), ('assets', 'compression_creator_hash'), ('assets', 'compression_asset_hash'), ('assets', 'compression_tree'), ('assets', 'royalty_royalty_model'), ('assets', 'royalty_target'), ('assets', 'creators'), ('assets', 'grouping'), ('assets', 'collection'), ('assets', 'uses_use_method'), ('assets', 'token_info_token_program'), ('assets', 'token_info_mint_authority'), ('assets', 'token_info_freeze_authority'), ('assets', 'extra'), ('creators', 'address'), ('creators', 'extra')), ('Nullable(String)', '^(LowCardinality\\()?Nullable\\(String\\)*$'),
    (table, name) IN (('assets', 'ownership_frozen'), ('assets', 'ownership_delegated'), ('assets', 'compression_eligible'), ('assets', 'compression_compressed'), ('assets', 'royalty_primary_sale_happened'), ('assets', 'royalty_locked'), ('assets', 'mutable'), ('assets', 'burnt'), ('creators', 'verified')), ('Nullable(Bool)', '^(LowCardinality\\()?Nullable\\((Bool|UInt8)\\)*$'),
    (table, name) IN (('assets', 'compression_seq'), ('assets', 'compression_leaf_id'), ('assets', 'royalty_basis_points'), ('assets', 'uses_remaining'), ('assets', 'uses_total'), ('assets', 'supply_print_max_supply'), ('assets', 'supply_print_current_supply'), ('assets', 'supply_edition_nonce'), ('assets', 'token_info_decimals'), ('creators', 'share')), ('Nullable(Int64)', '^(LowCardinality\\()?Nullable\\(Int(64|128|256)\\)*$'),
    (table, name) IN (('assets', 'royalty_percent')), ('Nullable(Float64)', '^(LowCardinality\\()?Nullable\\(Float64\\)*$'),
    (table, name) IN (('assets', 'token_info_supply')), ('Nullable(Decimal(20, 0))', '^(LowCardinality\\()?Nullable\\(Decimal\\(([2-6]\\d|7[0-6]), 0\\)\\)*$'),
    (table, name) IN (('creators', 'position')), ('Int64', '^(LowCardinality\\()?(Nullable\\()?Int(64|128|256)\\)*$'),
    ('', '')) AS wanted
  FROM system.columns WHERE database = currentDatabase()
) AS x WHERE NOT match(type, wanted.2);

CREATE TABLE `asset_export_stage_assets` AS `assets`;

INSERT INTO `asset_export_stage_assets` (`id`, `interface`, `content_schema`, `content_json_uri`, `content_files`, `content_metadata_name`, `content_metadata_symbol`, `content_metadata_description`, `content_metadata_attributes`, `content_metadata_token_standard`, `content_links`, `authorities`, `ownership_owner`, `ownership_frozen`, `ownership_delegated`, `ownership_delegate`, `ownership_ownership_model`, `compression_eligible`, `compression_compressed`, `compression_data_hash`, `compression_creator_hash`, `compression_asset_hash`, `compression_tree`, `compression_seq`, `compression_leaf_id`, `royalty_royalty_model`, `royalty_target`, `royalty_percent`, `royalty_basis_points`, `royalty_primary_sale_happened`, `royalty_locked`, `creators`, `grouping`, `collection`, `uses_use_method`, `uses_remaining`, `uses_total`, `supply_print_max_supply`, `supply_print_current_supply`, `supply_edition_nonce`, `mutable`, `burnt`, `token_info_supply`, `token_info_decimals`, `token_info_token_program`, `token_info_mint_authority`, `token_info_freeze_authority`, `extra`)
FROM INFILE '@stage/demo/parquet/assets/part-*.parquet' FORMAT Parquet;

CREATE TABLE `asset_export_stage_creators` AS `creators`;

INSERT INTO `asset_export_stage_creators` (`asset_id`, `position`, `address`, `share`, `verified`, `extra`)
FROM INFILE '@stage/demo/parquet/creators/part-*.parquet' FORMAT Parquet;

-- The guard. To allow more deletes, raise 0.05.
CREATE TABLE `asset_export_stage_assets_passed_guard` ENGINE = Memory AS SELECT throwIf(NOT ((SELECT count(*) FROM `asset_export_stage_assets_types`) = 0), 'a column has a type that would change values')
  + throwIf(NOT ((SELECT count(*) FROM `asset_export_stage_assets`) = 1000
  AND (SELECT count(*) FROM `asset_export_stage_creators`) = 1000), 'a stage does not hold all rows of EXPORT')
  + throwIf(NOT ((SELECT count(*) FROM `_asset_export_loads` WHERE `table` = 'assets' AND (`mode` = 'scd2' OR `started_at` > toDateTime64('2026-11-20 02:00:00.000', 6, 'UTC'))) = 0), 'the table assets holds versions (scd2) or a newer export than EXPORT')
  + throwIf(NOT ((SELECT count(*) FROM `assets`) - (SELECT count(*) FROM `assets` AS t INNER JOIN `asset_export_stage_assets` AS s ON t.`id` = s.`id`) <= 0.05 * (SELECT count(*) FROM `assets`)), 'more than 5 % of the rows of assets would be deleted: check the export') AS passed;

RENAME TABLE
  `asset_export_stage_assets_passed_guard` TO `asset_export_stage_assets_passed`,
  `asset_export_stage_assets` TO `asset_export_stage_assets_ready`,
  `asset_export_stage_creators` TO `asset_export_stage_creators_ready`;

EXCHANGE TABLES `assets` AND `asset_export_stage_assets_ready`;

EXCHANGE TABLES `creators` AND `asset_export_stage_creators_ready`;

SELECT throwIf(NOT ((SELECT count(*) FROM `assets`) = 1000
  AND (SELECT count(*) FROM `creators`) = 1000), 'the tables would not hold the rows of EXPORT, because they were changed: look for triggers, rules and other writers, and run the script again') FORMAT Null;

DELETE FROM `_asset_export_loads` WHERE `table` IN ('assets', 'creators') AND (SELECT count(*) FROM `asset_export_stage_assets_passed`) = 1;

INSERT INTO `_asset_export_loads` (`table`, `rows`, `seal`, `mode`, `at`, `export`, `started_at`)
SELECT loaded, held, 'SEAL', 'replace', now64(6), 'EXPORT', toDateTime64('2026-11-20 02:00:00.000', 6, 'UTC') FROM (
  SELECT 'assets' AS loaded, 1000 AS held
  UNION ALL SELECT 'creators' AS loaded, 1000 AS held
) AS x, `asset_export_stage_assets_passed`;

DROP TABLE IF EXISTS `asset_export_stage_assets`, `asset_export_stage_creators`, `asset_export_stage_assets_types`, `asset_export_stage_assets_passed`, `asset_export_stage_assets_passed_guard`, `asset_export_stage_assets_ready`, `asset_export_stage_creators_ready`;
