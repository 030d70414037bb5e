-- The rows of the export, in tables of their own.

DROP TABLE IF EXISTS `asset_export_stage_creators`;

DROP TABLE IF EXISTS `asset_export_stage_changes`;

DROP TABLE IF EXISTS `asset_export_stage_creators_types`;

-- A column that does not hold every value of the export ends the script here.
CREATE OR REPLACE TABLE `asset_export_stage_creators_types` ENGINE = Memory AS
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

CREATE TABLE `asset_export_stage_creators` AS `creators`;

INSERT INTO `asset_export_stage_creators` (`asset_id`, `position`, `address`, `share`, `verified`, `extra`)
FROM INFILE '@stage/demo/parquet/creators/part-*.parquet'
FORMAT Parquet;

CREATE TABLE `asset_export_stage_changes` (
  `op`                              String                         COMMENT 'What happened.',
  `reason`                          Nullable(String)               COMMENT 'Of a delete: not known to the service, failed, or not among the ids.',
  `changed_at`                      Nullable(DateTime64(6, 'UTC')) COMMENT 'Start of the newer export, UTC; null where it is not known.',
  `id`                              String                         COMMENT 'Asset id, a base58 public key.',
  `changed`                         Nullable(String)               COMMENT 'Of an update: names of the columns that differ, in their order.',
  `before`                          Nullable(String)               COMMENT 'Old values of these columns by name; of a delete the whole old row.',
  `interface`                       Nullable(String)               COMMENT 'Interface type; other values are possible.',
  `content_schema`                  Nullable(String)               COMMENT 'Schema URI of the content.',
  `content_json_uri`                Nullable(String)               COMMENT 'URI of the asset\'s JSON metadata; often empty.',
  `content_files`                   Nullable(String)               COMMENT 'Associated files, an array of objects with uri, mime and contexts.',
  `content_metadata_name`           Nullable(String)               COMMENT 'Name of the asset.',
  `content_metadata_symbol`         Nullable(String)               COMMENT 'Symbol of the asset.',
  `content_metadata_description`    Nullable(String)               COMMENT 'Description of the asset.',
  `content_metadata_attributes`     Nullable(String)               COMMENT 'Attributes, an array of objects with trait_type and value, or an object.',
  `content_metadata_token_standard` Nullable(String)               COMMENT 'Token standard; present for some assets only.',
  `content_links`                   Nullable(String)               COMMENT 'Links, an object with image, external_url and others.',
  `authorities`                     Nullable(String)               COMMENT 'Authorities, an array of objects with address and scopes.',
  `ownership_owner`                 Nullable(String)               COMMENT 'Owner\'s public key; may be empty.',
  `ownership_frozen`                Nullable(Bool)                 COMMENT 'Whether the asset is frozen.',
  `ownership_delegated`             Nullable(Bool)                 COMMENT 'Whether the asset is delegated.',
  `ownership_delegate`              Nullable(String)               COMMENT 'Delegate\'s public key; null when not delegated.',
  `ownership_ownership_model`       Nullable(String)               COMMENT 'Ownership model, for example single or token.',
  `compression_eligible`            Nullable(Bool)                 COMMENT 'Whether the asset is eligible for compression.',
  `compression_compressed`          Nullable(Bool)                 COMMENT 'Whether the asset is compressed.',
  `compression_data_hash`           Nullable(String)               COMMENT 'Data hash; empty when not compressed.',
  `compression_creator_hash`        Nullable(String)               COMMENT 'Creator hash; empty when not compressed.',
  `compression_asset_hash`          Nullable(String)               COMMENT 'Asset hash; empty when not compressed.',
  `compression_tree`                Nullable(String)               COMMENT 'Merkle tree id; empty when not compressed.',
  `compression_seq`                 Nullable(Int64)                COMMENT 'Sequence number; 0 when not compressed.',
  `compression_leaf_id`             Nullable(Int64)                COMMENT 'Leaf id; 0 when not compressed.',
  `royalty_royalty_model`           Nullable(String)               COMMENT 'Royalty model.',
  `royalty_target`                  Nullable(String)               COMMENT 'Target address for royalties.',
  `royalty_percent`                 Nullable(Float64)              COMMENT 'Royalty as a fraction (0.05 is 5 %), as the service computed it.',
  `royalty_basis_points`            Nullable(Int64)                COMMENT 'Royalty in basis points (500 is 5 %).',
  `royalty_primary_sale_happened`   Nullable(Bool)                 COMMENT 'Whether the primary sale has occurred.',
  `royalty_locked`                  Nullable(Bool)                 COMMENT 'Whether the royalty is locked.',
  `creators`                        Nullable(String)               COMMENT 'Creators, an array of objects with address, share and verified.',
  `grouping`                        Nullable(String)               COMMENT 'Groups, an array of objects with group_key and group_value.',
  `collection`                      Nullable(String)               COMMENT 'The group_value of the first group whose group_key is collection.',
  `uses_use_method`                 Nullable(String)               COMMENT 'Use method.',
  `uses_remaining`                  Nullable(Int64)                COMMENT 'Remaining uses.',
  `uses_total`                      Nullable(Int64)                COMMENT 'Total uses.',
  `supply_print_max_supply`         Nullable(Int64)                COMMENT 'Maximum supply for prints.',
  `supply_print_current_supply`     Nullable(Int64)                COMMENT 'Current supply for prints.',
  `supply_edition_nonce`            Nullable(Int64)                COMMENT 'Edition nonce.',
  `mutable`                         Nullable(Bool)                 COMMENT 'Whether the asset is mutable.',
  `burnt`                           Nullable(Bool)                 COMMENT 'Whether the asset is burnt.',
  `token_info_supply`               Nullable(Decimal(20, 0))       COMMENT 'Supply in base units, an unsigned integer of 64 bits; only with showFungible.',
  `token_info_decimals`             Nullable(Int64)                COMMENT 'Decimal places of the token; only with showFungible.',
  `token_info_token_program`        Nullable(String)               COMMENT 'Token program; only with showFungible.',
  `token_info_mint_authority`       Nullable(String)               COMMENT 'Mint authority; only with showFungible.',
  `token_info_freeze_authority`     Nullable(String)               COMMENT 'Freeze authority; only with showFungible.',
  `extra`                           Nullable(String)               COMMENT 'All values without a column, or that do not fit their column, by path.'
)
ENGINE = MergeTree
ORDER BY (`op`, `id`)
COMMENT 'One row per asset.';

INSERT INTO `asset_export_stage_changes` (`op`, `reason`, `changed_at`, `id`, `changed`, `before`, `interface`, `content_schema`, `content_json_uri`, `content_files`, `content_metadata_name`, `content_metadata_symbol`, `content_metadata_description`, `content_metadata_attributes`, `content_metadata_token_standard`, `content_links`, `authorities`, `ownership_owner`, `ownership_frozen`, `ownership_delegated`, `ownership_delegate`, `ownership_ownership_model`, `compression_eligible`, `compression_compressed`, `compression_data_hash`, `compression_creator_hash`, `compression_asset_hash`, `compression_tree`, `compression_seq`, `compression_leaf_id`, `royalty_royalty_model`, `royalty_target`, `royalty_percent`, `royalty_basis_points`, `royalty_primary_sale_happened`, `royalty_locked`, `creators`, `grouping`, `collection`, `uses_use_method`, `uses_remaining`, `uses_total`, `supply_print_max_supply`, `supply_print_current_supply`, `supply_edition_nonce`, `mutable`, `burnt`, `token_info_supply`, `token_info_decimals`, `token_info_token_program`, `token_info_mint_authority`, `token_info_freeze_authority`, `extra`)
FROM INFILE '@stage/demo/parquet/changes/part-*.parquet'
FORMAT Parquet;

SELECT throwIf(NOT ((SELECT count(*) FROM `asset_export_stage_changes`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators_types`) = 0), 'a stage does not hold all rows of EXPORT') FORMAT Null;

SELECT throwIf(NOT ((SELECT count(*) FROM `_asset_export_loads` WHERE `table` = 'assets' AND `mode` <> 'scd2' AND `seal` IN ('BASE-SEAL', 'SEAL')) = 1), 'the table assets does not hold BASE, which the changes start from') FORMAT Null;

-- To allow more deletes, raise 0.05.
SELECT throwIf(NOT ((SELECT count(*) FROM `asset_export_stage_changes` WHERE `op` = 'delete') <= 0.05 * (1000 + (SELECT count(*) FROM `asset_export_stage_changes` WHERE `op` = 'delete') - (SELECT count(*) FROM `asset_export_stage_changes` WHERE `op` = 'insert'))), 'more than 5 % of the rows of assets would be deleted: check the export') FORMAT Null;

DELETE FROM `assets` WHERE `id` IN (SELECT `id` FROM `asset_export_stage_changes`) AND (SELECT count(*) FROM `asset_export_stage_changes`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators_types`) = 0 AND (SELECT count(*) FROM `_asset_export_loads` WHERE `table` = 'assets' AND `mode` <> 'scd2' AND `seal` = 'BASE-SEAL') = 1;

INSERT INTO `assets` (`id`, `interface`, `content_schema`, `content_json_uri`, `content_files`, `content_metadata_name`, `content_metadata_symbol`, `content_metadata_description`, `content_metadata_attributes`, `content_metadata_token_standard`, `content_links`, `authorities`, `ownership_owner`, `ownership_frozen`, `ownership_delegated`, `ownership_delegate`, `ownership_ownership_model`, `compression_eligible`, `compression_compressed`, `compression_data_hash`, `compression_creator_hash`, `compression_asset_hash`, `compression_tree`, `compression_seq`, `compression_leaf_id`, `royalty_royalty_model`, `royalty_target`, `royalty_percent`, `royalty_basis_points`, `royalty_primary_sale_happened`, `royalty_locked`, `creators`, `grouping`, `collection`, `uses_use_method`, `uses_remaining`, `uses_total`, `supply_print_max_supply`, `supply_print_current_supply`, `supply_edition_nonce`, `mutable`, `burnt`, `token_info_supply`, `token_info_decimals`, `token_info_token_program`, `token_info_mint_authority`, `token_info_freeze_authority`, `extra`)
SELECT `id`, `interface`, `content_schema`, `content_json_uri`, `content_files`, `content_metadata_name`, `content_metadata_symbol`, `content_metadata_description`, `content_metadata_attributes`, `content_metadata_token_standard`, `content_links`, `authorities`, `ownership_owner`, `ownership_frozen`, `ownership_delegated`, `ownership_delegate`, `ownership_ownership_model`, `compression_eligible`, `compression_compressed`, `compression_data_hash`, `compression_creator_hash`, `compression_asset_hash`, `compression_tree`, `compression_seq`, `compression_leaf_id`, `royalty_royalty_model`, `royalty_target`, `royalty_percent`, `royalty_basis_points`, `royalty_primary_sale_happened`, `royalty_locked`, `creators`, `grouping`, `collection`, `uses_use_method`, `uses_remaining`, `uses_total`, `supply_print_max_supply`, `supply_print_current_supply`, `supply_edition_nonce`, `mutable`, `burnt`, `token_info_supply`, `token_info_decimals`, `token_info_token_program`, `token_info_mint_authority`, `token_info_freeze_authority`, `extra` FROM `asset_export_stage_changes` WHERE `op` <> 'delete' AND (SELECT count(*) FROM `asset_export_stage_changes`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators_types`) = 0 AND (SELECT count(*) FROM `_asset_export_loads` WHERE `table` = 'assets' AND `mode` <> 'scd2' AND `seal` = 'BASE-SEAL') = 1;

DELETE FROM `creators` WHERE `asset_id` IN (SELECT `id` FROM `asset_export_stage_changes`) AND (SELECT count(*) FROM `asset_export_stage_changes`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators_types`) = 0 AND (SELECT count(*) FROM `_asset_export_loads` WHERE `table` = 'assets' AND `mode` <> 'scd2' AND `seal` = 'BASE-SEAL') = 1;

INSERT INTO `creators` (`asset_id`, `position`, `address`, `share`, `verified`, `extra`)
SELECT `asset_id`, `position`, `address`, `share`, `verified`, `extra` FROM `asset_export_stage_creators` WHERE `asset_id` IN (SELECT `id` FROM `asset_export_stage_changes` WHERE `op` <> 'delete') AND (SELECT count(*) FROM `asset_export_stage_changes`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators_types`) = 0 AND (SELECT count(*) FROM `_asset_export_loads` WHERE `table` = 'assets' AND `mode` <> 'scd2' AND `seal` = 'BASE-SEAL') = 1;

SELECT throwIf(NOT ((SELECT count(*) FROM `assets`) = 1000), 'the table assets would not hold 1000 rows, because it was changed: load the export with --mode replace') FORMAT Null;

SELECT throwIf(NOT ((SELECT count(*) FROM `creators`) = 1000), 'the table creators would not hold 1000 rows, because it was changed: load the export with --mode replace') FORMAT Null;

ALTER TABLE `_asset_export_loads` UPDATE `seal` = 'SEAL', `base_seal` = 'BASE-SEAL', `mode` = 'merge', `at` = now64(6), `export` = 'EXPORT', `started_at` = toDateTime64('2026-11-20 02:00:00.000', 6, 'UTC'), `rows` = CASE `table` WHEN 'assets' THEN 1000 WHEN 'creators' THEN 1000 END WHERE `table` IN ('assets', 'creators') AND `seal` = 'BASE-SEAL' AND `mode` <> 'scd2' AND (SELECT count(*) FROM `asset_export_stage_changes`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators`) = 1000 AND (SELECT count(*) FROM `asset_export_stage_creators_types`) = 0 SETTINGS mutations_sync = 2;

DROP TABLE IF EXISTS `asset_export_stage_creators`;

DROP TABLE IF EXISTS `asset_export_stage_changes`;

DROP TABLE IF EXISTS `asset_export_stage_creators_types`;
