CREATE TABLE `assets` (
  `id`                              String,                   -- Asset id, a base58 public key.
  `interface`                       Nullable(String),         -- Interface type; other values are possible.
  `content_schema`                  Nullable(String),         -- Schema URI of the content.
  `content_json_uri`                Nullable(String),         -- URI of the asset's JSON metadata; often empty.
  `content_files`                   Nullable(String),         -- Associated files, an array of objects with uri, mime and contexts.
  `content_metadata_name`           Nullable(String),         -- Name of the asset.
  `content_metadata_symbol`         Nullable(String),         -- Symbol of the asset.
  `content_metadata_description`    Nullable(String),         -- Description of the asset.
  `content_metadata_attributes`     Nullable(String),         -- Attributes, an array of objects with trait_type and value, or an object.
  `content_metadata_token_standard` Nullable(String),         -- Token standard; present for some assets only.
  `content_links`                   Nullable(String),         -- Links, an object with image, external_url and others.
  `authorities`                     Nullable(String),         -- Authorities, an array of objects with address and scopes.
  `ownership_owner`                 Nullable(String),         -- Owner's public key; may be empty.
  `ownership_frozen`                Nullable(Bool),           -- Whether the asset is frozen.
  `ownership_delegated`             Nullable(Bool),           -- Whether the asset is delegated.
  `ownership_delegate`              Nullable(String),         -- Delegate's public key; null when not delegated.
  `ownership_ownership_model`       Nullable(String),         -- Ownership model, for example single or token.
  `compression_eligible`            Nullable(Bool),           -- Whether the asset is eligible for compression.
  `compression_compressed`          Nullable(Bool),           -- Whether the asset is compressed.
  `compression_data_hash`           Nullable(String),         -- Data hash; empty when not compressed.
  `compression_creator_hash`        Nullable(String),         -- Creator hash; empty when not compressed.
  `compression_asset_hash`          Nullable(String),         -- Asset hash; empty when not compressed.
  `compression_tree`                Nullable(String),         -- Merkle tree id; empty when not compressed.
  `compression_seq`                 Nullable(Int64),          -- Sequence number; 0 when not compressed.
  `compression_leaf_id`             Nullable(Int64),          -- Leaf id; 0 when not compressed.
  `royalty_royalty_model`           Nullable(String),         -- Royalty model.
  `royalty_target`                  Nullable(String),         -- Target address for royalties.
  `royalty_percent`                 Nullable(Float64),        -- Royalty as a fraction (0.05 is 5 %), as the service computed it.
  `royalty_basis_points`            Nullable(Int64),          -- Royalty in basis points (500 is 5 %).
  `royalty_primary_sale_happened`   Nullable(Bool),           -- Whether the primary sale has occurred.
  `royalty_locked`                  Nullable(Bool),           -- Whether the royalty is locked.
  `creators`                        Nullable(String),         -- Creators, an array of objects with address, share and verified.
  `grouping`                        Nullable(String),         -- Groups, an array of objects with group_key and group_value.
  `collection`                      Nullable(String),         -- The group_value of the first group whose group_key is collection.
  `uses_use_method`                 Nullable(String),         -- Use method.
  `uses_remaining`                  Nullable(Int64),          -- Remaining uses.
  `uses_total`                      Nullable(Int64),          -- Total uses.
  `supply_print_max_supply`         Nullable(Int64),          -- Maximum supply for prints.
  `supply_print_current_supply`     Nullable(Int64),          -- Current supply for prints.
  `supply_edition_nonce`            Nullable(Int64),          -- Edition nonce.
  `mutable`                         Nullable(Bool),           -- Whether the asset is mutable.
  `burnt`                           Nullable(Bool),           -- Whether the asset is burnt.
  `token_info_supply`               Nullable(Decimal(20, 0)), -- Supply in base units, an unsigned integer of 64 bits; only with showFungible.
  `token_info_decimals`             Nullable(Int64),          -- Decimal places of the token; only with showFungible.
  `token_info_token_program`        Nullable(String),         -- Token program; only with showFungible.
  `token_info_mint_authority`       Nullable(String),         -- Mint authority; only with showFungible.
  `token_info_freeze_authority`     Nullable(String),         -- Freeze authority; only with showFungible.
  `extra`                           Nullable(String)          -- All values without a column, or that do not fit their column, by path.
)
ENGINE = MergeTree
ORDER BY (`id`);

-- Run this in clickhouse-client. It reads files from its own machine.
INSERT INTO `assets` FROM INFILE 'out/demo/parquet/assets/part-*.parquet'
FORMAT Parquet;

-- Run this in clickhouse-client. It reads files from its own machine.
INSERT INTO `assets` FROM INFILE 'out/demo/csv/assets/part-*.csv*'
SETTINGS
  input_format_csv_trim_whitespaces = 0,
  format_csv_null_representation = ''
FORMAT CSVWithNames;

-- Run this in clickhouse-client. It reads files from its own machine.
INSERT INTO `assets` FROM INFILE 'out/demo/jsonl/assets/part-*.jsonl*'
SETTINGS
  input_format_json_read_objects_as_strings = 1, input_format_json_read_arrays_as_strings = 1,
  input_format_json_read_numbers_as_strings = 1, input_format_json_read_bools_as_strings = 1
FORMAT JSONEachRow;
