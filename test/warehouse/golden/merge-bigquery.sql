-- each night, in order, and once only: applying the same changes twice doubles rows

CREATE TABLE `new_changes` (
  `op`                              STRING NOT NULL, -- What happened.
  `reason`                          STRING,          -- Of a delete: not known to the service, failed, or not among the ids.
  `id`                              STRING NOT NULL, -- Asset id, a base58 public key.
  `changed`                         STRING,          -- Of an update: names of the columns that differ, in their order.
  `before`                          STRING,          -- Old values of these columns by name; of a delete the whole old row.
  `interface`                       STRING,          -- Interface type; other values are possible.
  `content_schema`                  STRING,          -- Schema URI of the content.
  `content_json_uri`                STRING,          -- URI of the asset's JSON metadata; often empty.
  `content_files`                   STRING,          -- Associated files, an array of objects with uri, mime and contexts.
  `content_metadata_name`           STRING,          -- Name of the asset.
  `content_metadata_symbol`         STRING,          -- Symbol of the asset.
  `content_metadata_description`    STRING,          -- Description of the asset.
  `content_metadata_attributes`     STRING,          -- Attributes, an array of objects with trait_type and value, or an object.
  `content_metadata_token_standard` STRING,          -- Token standard; present for some assets only.
  `content_links`                   STRING,          -- Links, an object with image, external_url and others.
  `authorities`                     STRING,          -- Authorities, an array of objects with address and scopes.
  `ownership_owner`                 STRING,          -- Owner's public key; may be empty.
  `ownership_frozen`                BOOL,            -- Whether the asset is frozen.
  `ownership_delegated`             BOOL,            -- Whether the asset is delegated.
  `ownership_delegate`              STRING,          -- Delegate's public key; null when not delegated.
  `ownership_ownership_model`       STRING,          -- Ownership model, for example single or token.
  `compression_eligible`            BOOL,            -- Whether the asset is eligible for compression.
  `compression_compressed`          BOOL,            -- Whether the asset is compressed.
  `compression_data_hash`           STRING,          -- Data hash; empty when not compressed.
  `compression_creator_hash`        STRING,          -- Creator hash; empty when not compressed.
  `compression_asset_hash`          STRING,          -- Asset hash; empty when not compressed.
  `compression_tree`                STRING,          -- Merkle tree id; empty when not compressed.
  `compression_seq`                 INT64,           -- Sequence number; 0 when not compressed.
  `compression_leaf_id`             INT64,           -- Leaf id; 0 when not compressed.
  `royalty_royalty_model`           STRING,          -- Royalty model.
  `royalty_target`                  STRING,          -- Target address for royalties.
  `royalty_percent`                 FLOAT64,         -- Royalty as a fraction (0.05 is 5 %), as the service computed it.
  `royalty_basis_points`            INT64,           -- Royalty in basis points (500 is 5 %).
  `royalty_primary_sale_happened`   BOOL,            -- Whether the primary sale has occurred.
  `royalty_locked`                  BOOL,            -- Whether the royalty is locked.
  `creators`                        STRING,          -- Creators, an array of objects with address, share and verified.
  `grouping`                        STRING,          -- Groups, an array of objects with group_key and group_value.
  `collection`                      STRING,          -- The group_value of the first group whose group_key is collection.
  `uses_use_method`                 STRING,          -- Use method.
  `uses_remaining`                  INT64,           -- Remaining uses.
  `uses_total`                      INT64,           -- Total uses.
  `supply_print_max_supply`         INT64,           -- Maximum supply for prints.
  `supply_print_current_supply`     INT64,           -- Current supply for prints.
  `supply_edition_nonce`            INT64,           -- Edition nonce.
  `mutable`                         BOOL,            -- Whether the asset is mutable.
  `burnt`                           BOOL,            -- Whether the asset is burnt.
  `token_info_supply`               NUMERIC(20, 0),  -- Supply in base units, an unsigned integer of 64 bits; only with showFungible.
  `token_info_decimals`             INT64,           -- Decimal places of the token; only with showFungible.
  `token_info_token_program`        STRING,          -- Token program; only with showFungible.
  `token_info_mint_authority`       STRING,          -- Mint authority; only with showFungible.
  `token_info_freeze_authority`     STRING,          -- Freeze authority; only with showFungible.
  `extra`                           STRING           -- All values without a column, or that do not fit their column, by path.
);

-- The default dataset must be set; files are read from Cloud Storage (gs://…).
LOAD DATA INTO `new_changes`
FROM FILES (format = 'PARQUET', uris = ['@stage/demo/parquet/changes/part-*']);

CREATE TABLE `new_creators` (
  `asset_id` STRING NOT NULL, -- Id of the asset that the row belongs to.
  `position` INT64 NOT NULL,  -- Position of the element in the asset's list, from 0.
  `address`  STRING,          -- Creator's public key.
  `share`    INT64,           -- Share of the royalty in percent.
  `verified` BOOL,            -- Whether the creator has signed.
  `extra`    STRING           -- All values without a column, or that do not fit their column; the element itself if it is not an object.
);

-- The default dataset must be set; files are read from Cloud Storage (gs://…).
LOAD DATA INTO `new_creators`
FROM FILES (format = 'PARQUET', uris = ['@stage/demo/parquet/creators/part-*']);

BEGIN TRANSACTION;

DELETE FROM `assets` WHERE `id` IN (SELECT `id` FROM `new_changes`);

INSERT INTO `assets` (`id`, `interface`, `content_schema`, `content_json_uri`, `content_files`, `content_metadata_name`, `content_metadata_symbol`, `content_metadata_description`, `content_metadata_attributes`, `content_metadata_token_standard`, `content_links`, `authorities`, `ownership_owner`, `ownership_frozen`, `ownership_delegated`, `ownership_delegate`, `ownership_ownership_model`, `compression_eligible`, `compression_compressed`, `compression_data_hash`, `compression_creator_hash`, `compression_asset_hash`, `compression_tree`, `compression_seq`, `compression_leaf_id`, `royalty_royalty_model`, `royalty_target`, `royalty_percent`, `royalty_basis_points`, `royalty_primary_sale_happened`, `royalty_locked`, `creators`, `grouping`, `collection`, `uses_use_method`, `uses_remaining`, `uses_total`, `supply_print_max_supply`, `supply_print_current_supply`, `supply_edition_nonce`, `mutable`, `burnt`, `token_info_supply`, `token_info_decimals`, `token_info_token_program`, `token_info_mint_authority`, `token_info_freeze_authority`, `extra`)
SELECT `id`, `interface`, `content_schema`, `content_json_uri`, `content_files`, `content_metadata_name`, `content_metadata_symbol`, `content_metadata_description`, `content_metadata_attributes`, `content_metadata_token_standard`, `content_links`, `authorities`, `ownership_owner`, `ownership_frozen`, `ownership_delegated`, `ownership_delegate`, `ownership_ownership_model`, `compression_eligible`, `compression_compressed`, `compression_data_hash`, `compression_creator_hash`, `compression_asset_hash`, `compression_tree`, `compression_seq`, `compression_leaf_id`, `royalty_royalty_model`, `royalty_target`, `royalty_percent`, `royalty_basis_points`, `royalty_primary_sale_happened`, `royalty_locked`, `creators`, `grouping`, `collection`, `uses_use_method`, `uses_remaining`, `uses_total`, `supply_print_max_supply`, `supply_print_current_supply`, `supply_edition_nonce`, `mutable`, `burnt`, `token_info_supply`, `token_info_decimals`, `token_info_token_program`, `token_info_mint_authority`, `token_info_freeze_authority`, `extra` FROM `new_changes` WHERE `op` <> 'delete';

DELETE FROM `creators` WHERE `asset_id` IN (SELECT `id` FROM `new_changes`);

INSERT INTO `creators` (`asset_id`, `position`, `address`, `share`, `verified`, `extra`)
SELECT `asset_id`, `position`, `address`, `share`, `verified`, `extra` FROM `new_creators` WHERE `asset_id` IN (SELECT `id` FROM `new_changes` WHERE `op` <> 'delete');

COMMIT TRANSACTION;

DROP TABLE `new_changes`;

DROP TABLE `new_creators`;
