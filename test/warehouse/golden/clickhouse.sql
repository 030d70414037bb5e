CREATE TABLE `assets` (
  `id`                              String,                   -- Asset id, a base58 public key.
  `interface`                       Nullable(String),         -- Interface type; an open list.
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
  `extra`                           Nullable(String)          -- Every member that has no column of its own or does not fit it, under its path.
)
ENGINE = MergeTree
ORDER BY (`id`);

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `assets` FROM INFILE 'out/demo/parquet/assets/part-*.parquet'
FORMAT Parquet;

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `assets` FROM INFILE 'out/demo/csv/assets/part-*.csv*'
SETTINGS input_format_csv_empty_as_default = 1
FORMAT CSVWithNames;

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `assets` FROM INFILE 'out/demo/jsonl/assets/part-*.jsonl*'
SETTINGS
  input_format_json_read_objects_as_strings = 1, input_format_json_read_arrays_as_strings = 1,
  input_format_json_read_numbers_as_strings = 1, input_format_json_read_bools_as_strings = 1
FORMAT JSONEachRow;

CREATE TABLE `creators` (
  `asset_id` String,           -- Id of the asset that the row belongs to.
  `position` Int64,            -- Place of the element in the asset's list, from 0.
  `address`  Nullable(String), -- Creator's public key.
  `share`    Nullable(Int64),  -- Share of the royalty in percent.
  `verified` Nullable(Bool),   -- Whether the creator has signed.
  `extra`    Nullable(String)  -- Every member that has no column of its own or does not fit it; the element itself when it is no object.
)
ENGINE = MergeTree
ORDER BY (`asset_id`, `position`);

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `creators` FROM INFILE 'out/demo/parquet/creators/part-*.parquet'
FORMAT Parquet;

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `creators` FROM INFILE 'out/demo/csv/creators/part-*.csv*'
SETTINGS input_format_csv_empty_as_default = 1
FORMAT CSVWithNames;

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `creators` FROM INFILE 'out/demo/jsonl/creators/part-*.jsonl*'
SETTINGS
  input_format_json_read_objects_as_strings = 1, input_format_json_read_arrays_as_strings = 1,
  input_format_json_read_numbers_as_strings = 1, input_format_json_read_bools_as_strings = 1
FORMAT JSONEachRow;

CREATE TABLE `authorities` (
  `asset_id` String,           -- Id of the asset that the row belongs to.
  `position` Int64,            -- Place of the element in the asset's list, from 0.
  `address`  Nullable(String), -- Authority's public key; may be empty.
  `scopes`   Nullable(String), -- What the authority may do, an array of strings.
  `extra`    Nullable(String)  -- Every member that has no column of its own or does not fit it; the element itself when it is no object.
)
ENGINE = MergeTree
ORDER BY (`asset_id`, `position`);

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `authorities` FROM INFILE 'out/demo/parquet/authorities/part-*.parquet'
FORMAT Parquet;

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `authorities` FROM INFILE 'out/demo/csv/authorities/part-*.csv*'
SETTINGS input_format_csv_empty_as_default = 1
FORMAT CSVWithNames;

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `authorities` FROM INFILE 'out/demo/jsonl/authorities/part-*.jsonl*'
SETTINGS
  input_format_json_read_objects_as_strings = 1, input_format_json_read_arrays_as_strings = 1,
  input_format_json_read_numbers_as_strings = 1, input_format_json_read_bools_as_strings = 1
FORMAT JSONEachRow;

CREATE TABLE `grouping` (
  `asset_id`            String,           -- Id of the asset that the row belongs to.
  `position`            Int64,            -- Place of the element in the asset's list, from 0.
  `group_key`           Nullable(String), -- Kind of group, for example collection.
  `group_value`         Nullable(String), -- The group, for a collection its public key.
  `verified`            Nullable(Bool),   -- Whether the membership is verified; only with showUnverifiedCollections.
  `collection_metadata` Nullable(String), -- Metadata of the collection, an object; only with showCollectionMetadata.
  `extra`               Nullable(String)  -- Every member that has no column of its own or does not fit it; the element itself when it is no object.
)
ENGINE = MergeTree
ORDER BY (`asset_id`, `position`);

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `grouping` FROM INFILE 'out/demo/parquet/grouping/part-*.parquet'
FORMAT Parquet;

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `grouping` FROM INFILE 'out/demo/csv/grouping/part-*.csv*'
SETTINGS input_format_csv_empty_as_default = 1
FORMAT CSVWithNames;

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `grouping` FROM INFILE 'out/demo/jsonl/grouping/part-*.jsonl*'
SETTINGS
  input_format_json_read_objects_as_strings = 1, input_format_json_read_arrays_as_strings = 1,
  input_format_json_read_numbers_as_strings = 1, input_format_json_read_bools_as_strings = 1
FORMAT JSONEachRow;

CREATE TABLE `files` (
  `asset_id` String,           -- Id of the asset that the row belongs to.
  `position` Int64,            -- Place of the element in the asset's list, from 0.
  `uri`      Nullable(String), -- URI of the file, as the service has it.
  `mime`     Nullable(String), -- MIME type of the file.
  `contexts` Nullable(String), -- Contexts of the file; the specification leaves their form open.
  `extra`    Nullable(String)  -- Every member that has no column of its own or does not fit it; the element itself when it is no object.
)
ENGINE = MergeTree
ORDER BY (`asset_id`, `position`);

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `files` FROM INFILE 'out/demo/parquet/files/part-*.parquet'
FORMAT Parquet;

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `files` FROM INFILE 'out/demo/csv/files/part-*.csv*'
SETTINGS input_format_csv_empty_as_default = 1
FORMAT CSVWithNames;

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `files` FROM INFILE 'out/demo/jsonl/files/part-*.jsonl*'
SETTINGS
  input_format_json_read_objects_as_strings = 1, input_format_json_read_arrays_as_strings = 1,
  input_format_json_read_numbers_as_strings = 1, input_format_json_read_bools_as_strings = 1
FORMAT JSONEachRow;

CREATE TABLE `attributes` (
  `asset_id`     String,           -- Id of the asset that the row belongs to.
  `position`     Int64,            -- Place of the element in the asset's list, from 0.
  `trait_type`   Nullable(String), -- Name of the trait.
  `value`        Nullable(String), -- Text of the value: a number digit for digit, true or false, an object or array as JSON.
  `value_type`   Nullable(String), -- JSON type of the value: string, number, boolean, object, array or null.
  `display_type` Nullable(String), -- How the value is meant to be shown, for example number.
  `extra`        Nullable(String)  -- Every member that has no column of its own or does not fit it; the element itself when it is no object.
)
ENGINE = MergeTree
ORDER BY (`asset_id`, `position`);

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `attributes` FROM INFILE 'out/demo/parquet/attributes/part-*.parquet'
FORMAT Parquet;

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `attributes` FROM INFILE 'out/demo/csv/attributes/part-*.csv*'
SETTINGS input_format_csv_empty_as_default = 1
FORMAT CSVWithNames;

-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO `attributes` FROM INFILE 'out/demo/jsonl/attributes/part-*.jsonl*'
SETTINGS
  input_format_json_read_objects_as_strings = 1, input_format_json_read_arrays_as_strings = 1,
  input_format_json_read_numbers_as_strings = 1, input_format_json_read_bools_as_strings = 1
FORMAT JSONEachRow;
