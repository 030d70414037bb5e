CREATE TABLE `assets` (
  `id`                              STRING NOT NULL, -- Asset id, a base58 public key.
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
LOAD DATA INTO `assets`
FROM FILES (format = 'PARQUET', uris = ['gs://bucket/demo/parquet/assets/part-*']);

-- The default dataset must be set; files are read from Cloud Storage (gs://…).
LOAD DATA INTO `assets`
FROM FILES (
  format = 'CSV', uris = ['gs://bucket/demo/csv/assets/part-*'],
  skip_leading_rows = 1, allow_quoted_newlines = true, preserve_ascii_control_characters = true
);

-- The default dataset must be set; files are read from Cloud Storage (gs://…).
-- Numbers inside json columns are rounded to 64 bits here: csv and parquet keep every digit.
LOAD DATA INTO TEMP TABLE incoming (
  `id` STRING,
  `interface` STRING,
  `content_schema` STRING,
  `content_json_uri` STRING,
  `content_files` JSON,
  `content_metadata_name` STRING,
  `content_metadata_symbol` STRING,
  `content_metadata_description` STRING,
  `content_metadata_attributes` JSON,
  `content_metadata_token_standard` STRING,
  `content_links` JSON,
  `authorities` JSON,
  `ownership_owner` STRING,
  `ownership_frozen` BOOL,
  `ownership_delegated` BOOL,
  `ownership_delegate` STRING,
  `ownership_ownership_model` STRING,
  `compression_eligible` BOOL,
  `compression_compressed` BOOL,
  `compression_data_hash` STRING,
  `compression_creator_hash` STRING,
  `compression_asset_hash` STRING,
  `compression_tree` STRING,
  `compression_seq` INT64,
  `compression_leaf_id` INT64,
  `royalty_royalty_model` STRING,
  `royalty_target` STRING,
  `royalty_percent` FLOAT64,
  `royalty_basis_points` INT64,
  `royalty_primary_sale_happened` BOOL,
  `royalty_locked` BOOL,
  `creators` JSON,
  `grouping` JSON,
  `collection` STRING,
  `uses_use_method` STRING,
  `uses_remaining` INT64,
  `uses_total` INT64,
  `supply_print_max_supply` INT64,
  `supply_print_current_supply` INT64,
  `supply_edition_nonce` INT64,
  `mutable` BOOL,
  `burnt` BOOL,
  `token_info_supply` NUMERIC(20, 0),
  `token_info_decimals` INT64,
  `token_info_token_program` STRING,
  `token_info_mint_authority` STRING,
  `token_info_freeze_authority` STRING,
  `extra` JSON
)
FROM FILES (format = 'JSON', uris = ['gs://bucket/demo/jsonl/assets/part-*']);
INSERT INTO `assets` (
  `id`,
  `interface`,
  `content_schema`,
  `content_json_uri`,
  `content_files`,
  `content_metadata_name`,
  `content_metadata_symbol`,
  `content_metadata_description`,
  `content_metadata_attributes`,
  `content_metadata_token_standard`,
  `content_links`,
  `authorities`,
  `ownership_owner`,
  `ownership_frozen`,
  `ownership_delegated`,
  `ownership_delegate`,
  `ownership_ownership_model`,
  `compression_eligible`,
  `compression_compressed`,
  `compression_data_hash`,
  `compression_creator_hash`,
  `compression_asset_hash`,
  `compression_tree`,
  `compression_seq`,
  `compression_leaf_id`,
  `royalty_royalty_model`,
  `royalty_target`,
  `royalty_percent`,
  `royalty_basis_points`,
  `royalty_primary_sale_happened`,
  `royalty_locked`,
  `creators`,
  `grouping`,
  `collection`,
  `uses_use_method`,
  `uses_remaining`,
  `uses_total`,
  `supply_print_max_supply`,
  `supply_print_current_supply`,
  `supply_edition_nonce`,
  `mutable`,
  `burnt`,
  `token_info_supply`,
  `token_info_decimals`,
  `token_info_token_program`,
  `token_info_mint_authority`,
  `token_info_freeze_authority`,
  `extra`
)
SELECT
  `id`,
  `interface`,
  `content_schema`,
  `content_json_uri`,
  NULLIF(TO_JSON_STRING(`content_files`), 'null'),
  `content_metadata_name`,
  `content_metadata_symbol`,
  `content_metadata_description`,
  NULLIF(TO_JSON_STRING(`content_metadata_attributes`), 'null'),
  `content_metadata_token_standard`,
  NULLIF(TO_JSON_STRING(`content_links`), 'null'),
  NULLIF(TO_JSON_STRING(`authorities`), 'null'),
  `ownership_owner`,
  `ownership_frozen`,
  `ownership_delegated`,
  `ownership_delegate`,
  `ownership_ownership_model`,
  `compression_eligible`,
  `compression_compressed`,
  `compression_data_hash`,
  `compression_creator_hash`,
  `compression_asset_hash`,
  `compression_tree`,
  `compression_seq`,
  `compression_leaf_id`,
  `royalty_royalty_model`,
  `royalty_target`,
  `royalty_percent`,
  `royalty_basis_points`,
  `royalty_primary_sale_happened`,
  `royalty_locked`,
  NULLIF(TO_JSON_STRING(`creators`), 'null'),
  NULLIF(TO_JSON_STRING(`grouping`), 'null'),
  `collection`,
  `uses_use_method`,
  `uses_remaining`,
  `uses_total`,
  `supply_print_max_supply`,
  `supply_print_current_supply`,
  `supply_edition_nonce`,
  `mutable`,
  `burnt`,
  `token_info_supply`,
  `token_info_decimals`,
  `token_info_token_program`,
  `token_info_mint_authority`,
  `token_info_freeze_authority`,
  NULLIF(TO_JSON_STRING(`extra`), 'null')
FROM incoming;
DROP TABLE incoming;
