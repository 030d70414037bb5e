CREATE TABLE `assets` (
  `id`                              String                   COMMENT 'Asset id, a base58 public key.',
  `interface`                       Nullable(String)         COMMENT 'Interface; others are possible.',
  `content_schema`                  Nullable(String)         COMMENT 'Schema URI of the content.',
  `content_json_uri`                Nullable(String)         COMMENT 'URI of the asset\'s JSON metadata; often empty.',
  `content_files`                   Nullable(String)         COMMENT 'Associated files, an array of objects with uri, mime and contexts.',
  `content_metadata_name`           Nullable(String)         COMMENT 'Name of the asset.',
  `content_metadata_symbol`         Nullable(String)         COMMENT 'Symbol of the asset.',
  `content_metadata_description`    Nullable(String)         COMMENT 'Description of the asset.',
  `content_metadata_attributes`     Nullable(String)         COMMENT 'Attributes, an array of objects with trait_type and value, or an object.',
  `content_metadata_token_standard` Nullable(String)         COMMENT 'Token standard; present for some assets only.',
  `content_links`                   Nullable(String)         COMMENT 'Links, an object with image, external_url and others.',
  `authorities`                     Nullable(String)         COMMENT 'Authorities, an array of objects with address and scopes.',
  `ownership_owner`                 Nullable(String)         COMMENT 'Owner\'s public key; may be empty.',
  `ownership_frozen`                Nullable(Bool)           COMMENT 'Whether the asset is frozen.',
  `ownership_delegated`             Nullable(Bool)           COMMENT 'Whether the asset is delegated.',
  `ownership_delegate`              Nullable(String)         COMMENT 'Delegate\'s public key; null when not delegated.',
  `ownership_ownership_model`       Nullable(String)         COMMENT 'Ownership model, for example single or token.',
  `compression_eligible`            Nullable(Bool)           COMMENT 'Whether the asset is eligible for compression.',
  `compression_compressed`          Nullable(Bool)           COMMENT 'Whether the asset is compressed.',
  `compression_data_hash`           Nullable(String)         COMMENT 'Data hash; empty when not compressed.',
  `compression_creator_hash`        Nullable(String)         COMMENT 'Creator hash; empty when not compressed.',
  `compression_asset_hash`          Nullable(String)         COMMENT 'Asset hash; empty when not compressed.',
  `compression_tree`                Nullable(String)         COMMENT 'Merkle tree id; empty when not compressed.',
  `compression_seq`                 Nullable(Int64)          COMMENT 'Sequence number; 0 when not compressed.',
  `compression_leaf_id`             Nullable(Int64)          COMMENT 'Leaf id; 0 when not compressed.',
  `royalty_royalty_model`           Nullable(String)         COMMENT 'Royalty model.',
  `royalty_target`                  Nullable(String)         COMMENT 'Target address for royalties.',
  `royalty_percent`                 Nullable(Float64)        COMMENT 'Royalty as a fraction (0.05 is 5 %), as the service computed it.',
  `royalty_basis_points`            Nullable(Int64)          COMMENT 'Royalty in basis points (500 is 5 %).',
  `royalty_primary_sale_happened`   Nullable(Bool)           COMMENT 'Whether the primary sale has occurred.',
  `royalty_locked`                  Nullable(Bool)           COMMENT 'Whether the royalty is locked.',
  `creators`                        Nullable(String)         COMMENT 'Creators, an array of objects with address, share and verified.',
  `grouping`                        Nullable(String)         COMMENT 'Groups, an array of objects with group_key and group_value.',
  `collection`                      Nullable(String)         COMMENT 'The group_value of the first group whose group_key is collection.',
  `uses_use_method`                 Nullable(String)         COMMENT 'Use method.',
  `uses_remaining`                  Nullable(Int64)          COMMENT 'Remaining uses.',
  `uses_total`                      Nullable(Int64)          COMMENT 'Total uses.',
  `supply_print_max_supply`         Nullable(Int64)          COMMENT 'Maximum supply for prints.',
  `supply_print_current_supply`     Nullable(Int64)          COMMENT 'Current supply for prints.',
  `supply_edition_nonce`            Nullable(Int64)          COMMENT 'Edition nonce.',
  `mutable`                         Nullable(Bool)           COMMENT 'Whether the asset is mutable.',
  `burnt`                           Nullable(Bool)           COMMENT 'Whether the asset is burnt.',
  `token_info_supply`               Nullable(Decimal(20, 0)) COMMENT 'Supply in base units, an unsigned integer of 64 bits; only with showFungible.',
  `token_info_decimals`             Nullable(Int64)          COMMENT 'Decimal places of the token; only with showFungible.',
  `token_info_token_program`        Nullable(String)         COMMENT 'Token program; only with showFungible.',
  `token_info_mint_authority`       Nullable(String)         COMMENT 'Mint authority; only with showFungible.',
  `token_info_freeze_authority`     Nullable(String)         COMMENT 'Freeze authority; only with showFungible.',
  `extra`                           Nullable(String)         COMMENT 'All values without a column, or that do not fit their column, by path.'
)
ENGINE = MergeTree ORDER BY (`id`)
COMMENT 'One row per asset.';

INSERT INTO `assets` (`id`, `interface`, `content_schema`, `content_json_uri`, `content_files`, `content_metadata_name`, `content_metadata_symbol`, `content_metadata_description`, `content_metadata_attributes`, `content_metadata_token_standard`, `content_links`, `authorities`, `ownership_owner`, `ownership_frozen`, `ownership_delegated`, `ownership_delegate`, `ownership_ownership_model`, `compression_eligible`, `compression_compressed`, `compression_data_hash`, `compression_creator_hash`, `compression_asset_hash`, `compression_tree`, `compression_seq`, `compression_leaf_id`, `royalty_royalty_model`, `royalty_target`, `royalty_percent`, `royalty_basis_points`, `royalty_primary_sale_happened`, `royalty_locked`, `creators`, `grouping`, `collection`, `uses_use_method`, `uses_remaining`, `uses_total`, `supply_print_max_supply`, `supply_print_current_supply`, `supply_edition_nonce`, `mutable`, `burnt`, `token_info_supply`, `token_info_decimals`, `token_info_token_program`, `token_info_mint_authority`, `token_info_freeze_authority`, `extra`)
FROM INFILE 'out/demo/parquet/assets/part-*.parquet' FORMAT Parquet;

INSERT INTO `assets` (`id`, `interface`, `content_schema`, `content_json_uri`, `content_files`, `content_metadata_name`, `content_metadata_symbol`, `content_metadata_description`, `content_metadata_attributes`, `content_metadata_token_standard`, `content_links`, `authorities`, `ownership_owner`, `ownership_frozen`, `ownership_delegated`, `ownership_delegate`, `ownership_ownership_model`, `compression_eligible`, `compression_compressed`, `compression_data_hash`, `compression_creator_hash`, `compression_asset_hash`, `compression_tree`, `compression_seq`, `compression_leaf_id`, `royalty_royalty_model`, `royalty_target`, `royalty_percent`, `royalty_basis_points`, `royalty_primary_sale_happened`, `royalty_locked`, `creators`, `grouping`, `collection`, `uses_use_method`, `uses_remaining`, `uses_total`, `supply_print_max_supply`, `supply_print_current_supply`, `supply_edition_nonce`, `mutable`, `burnt`, `token_info_supply`, `token_info_decimals`, `token_info_token_program`, `token_info_mint_authority`, `token_info_freeze_authority`, `extra`)
FROM INFILE 'out/demo/csv/assets/part-*.csv*'
SETTINGS
  input_format_csv_trim_whitespaces = 0,
  format_csv_null_representation = ''
FORMAT CSVWithNames;

INSERT INTO `assets` (`id`, `interface`, `content_schema`, `content_json_uri`, `content_files`, `content_metadata_name`, `content_metadata_symbol`, `content_metadata_description`, `content_metadata_attributes`, `content_metadata_token_standard`, `content_links`, `authorities`, `ownership_owner`, `ownership_frozen`, `ownership_delegated`, `ownership_delegate`, `ownership_ownership_model`, `compression_eligible`, `compression_compressed`, `compression_data_hash`, `compression_creator_hash`, `compression_asset_hash`, `compression_tree`, `compression_seq`, `compression_leaf_id`, `royalty_royalty_model`, `royalty_target`, `royalty_percent`, `royalty_basis_points`, `royalty_primary_sale_happened`, `royalty_locked`, `creators`, `grouping`, `collection`, `uses_use_method`, `uses_remaining`, `uses_total`, `supply_print_max_supply`, `supply_print_current_supply`, `supply_edition_nonce`, `mutable`, `burnt`, `token_info_supply`, `token_info_decimals`, `token_info_token_program`, `token_info_mint_authority`, `token_info_freeze_authority`, `extra`)
FROM INFILE 'out/demo/jsonl/assets/part-*.jsonl*'
SETTINGS
  input_format_json_read_objects_as_strings = 1, input_format_json_read_arrays_as_strings = 1,
  input_format_json_read_numbers_as_strings = 1, input_format_json_read_bools_as_strings = 1
FORMAT JSONEachRow;
