CREATE TABLE "assets" (
  "id"                              VARCHAR NOT NULL, -- Asset id, a base58 public key.
  "interface"                       VARCHAR,          -- Interface type; other values are possible.
  "content_schema"                  VARCHAR,          -- Schema URI of the content.
  "content_json_uri"                VARCHAR,          -- URI of the asset's JSON metadata; often empty.
  "content_files"                   VARCHAR,          -- Associated files, an array of objects with uri, mime and contexts.
  "content_metadata_name"           VARCHAR,          -- Name of the asset.
  "content_metadata_symbol"         VARCHAR,          -- Symbol of the asset.
  "content_metadata_description"    VARCHAR,          -- Description of the asset.
  "content_metadata_attributes"     VARCHAR,          -- Attributes, an array of objects with trait_type and value, or an object.
  "content_metadata_token_standard" VARCHAR,          -- Token standard; present for some assets only.
  "content_links"                   VARCHAR,          -- Links, an object with image, external_url and others.
  "authorities"                     VARCHAR,          -- Authorities, an array of objects with address and scopes.
  "ownership_owner"                 VARCHAR,          -- Owner's public key; may be empty.
  "ownership_frozen"                BOOLEAN,          -- Whether the asset is frozen.
  "ownership_delegated"             BOOLEAN,          -- Whether the asset is delegated.
  "ownership_delegate"              VARCHAR,          -- Delegate's public key; null when not delegated.
  "ownership_ownership_model"       VARCHAR,          -- Ownership model, for example single or token.
  "compression_eligible"            BOOLEAN,          -- Whether the asset is eligible for compression.
  "compression_compressed"          BOOLEAN,          -- Whether the asset is compressed.
  "compression_data_hash"           VARCHAR,          -- Data hash; empty when not compressed.
  "compression_creator_hash"        VARCHAR,          -- Creator hash; empty when not compressed.
  "compression_asset_hash"          VARCHAR,          -- Asset hash; empty when not compressed.
  "compression_tree"                VARCHAR,          -- Merkle tree id; empty when not compressed.
  "compression_seq"                 BIGINT,           -- Sequence number; 0 when not compressed.
  "compression_leaf_id"             BIGINT,           -- Leaf id; 0 when not compressed.
  "royalty_royalty_model"           VARCHAR,          -- Royalty model.
  "royalty_target"                  VARCHAR,          -- Target address for royalties.
  "royalty_percent"                 DOUBLE,           -- Royalty as a fraction (0.05 is 5 %), as the service computed it.
  "royalty_basis_points"            BIGINT,           -- Royalty in basis points (500 is 5 %).
  "royalty_primary_sale_happened"   BOOLEAN,          -- Whether the primary sale has occurred.
  "royalty_locked"                  BOOLEAN,          -- Whether the royalty is locked.
  "creators"                        VARCHAR,          -- Creators, an array of objects with address, share and verified.
  "grouping"                        VARCHAR,          -- Groups, an array of objects with group_key and group_value.
  "collection"                      VARCHAR,          -- The group_value of the first group whose group_key is collection.
  "uses_use_method"                 VARCHAR,          -- Use method.
  "uses_remaining"                  BIGINT,           -- Remaining uses.
  "uses_total"                      BIGINT,           -- Total uses.
  "supply_print_max_supply"         BIGINT,           -- Maximum supply for prints.
  "supply_print_current_supply"     BIGINT,           -- Current supply for prints.
  "supply_edition_nonce"            BIGINT,           -- Edition nonce.
  "mutable"                         BOOLEAN,          -- Whether the asset is mutable.
  "burnt"                           BOOLEAN,          -- Whether the asset is burnt.
  "token_info_supply"               DECIMAL(20, 0),   -- Supply in base units, an unsigned integer of 64 bits; only with showFungible.
  "token_info_decimals"             BIGINT,           -- Decimal places of the token; only with showFungible.
  "token_info_token_program"        VARCHAR,          -- Token program; only with showFungible.
  "token_info_mint_authority"       VARCHAR,          -- Mint authority; only with showFungible.
  "token_info_freeze_authority"     VARCHAR,          -- Freeze authority; only with showFungible.
  "extra"                           VARCHAR           -- All values without a column, or that do not fit their column, by path.
);

INSERT INTO "assets" BY NAME
SELECT * FROM read_parquet('out/demo/parquet/assets/part-*.parquet', hive_partitioning = false);

INSERT INTO "assets" BY NAME
SELECT * FROM read_csv('out/demo/csv/assets/part-*.csv*', hive_partitioning = false,
  auto_detect = false, header = true, delim = ',', quote = '"', escape = '"',
  nullstr = '', allow_quoted_nulls = false, max_line_size = 67108864,
  columns = {
    "id": 'VARCHAR',
    "interface": 'VARCHAR',
    "content_schema": 'VARCHAR',
    "content_json_uri": 'VARCHAR',
    "content_files": 'VARCHAR',
    "content_metadata_name": 'VARCHAR',
    "content_metadata_symbol": 'VARCHAR',
    "content_metadata_description": 'VARCHAR',
    "content_metadata_attributes": 'VARCHAR',
    "content_metadata_token_standard": 'VARCHAR',
    "content_links": 'VARCHAR',
    "authorities": 'VARCHAR',
    "ownership_owner": 'VARCHAR',
    "ownership_frozen": 'BOOLEAN',
    "ownership_delegated": 'BOOLEAN',
    "ownership_delegate": 'VARCHAR',
    "ownership_ownership_model": 'VARCHAR',
    "compression_eligible": 'BOOLEAN',
    "compression_compressed": 'BOOLEAN',
    "compression_data_hash": 'VARCHAR',
    "compression_creator_hash": 'VARCHAR',
    "compression_asset_hash": 'VARCHAR',
    "compression_tree": 'VARCHAR',
    "compression_seq": 'BIGINT',
    "compression_leaf_id": 'BIGINT',
    "royalty_royalty_model": 'VARCHAR',
    "royalty_target": 'VARCHAR',
    "royalty_percent": 'DOUBLE',
    "royalty_basis_points": 'BIGINT',
    "royalty_primary_sale_happened": 'BOOLEAN',
    "royalty_locked": 'BOOLEAN',
    "creators": 'VARCHAR',
    "grouping": 'VARCHAR',
    "collection": 'VARCHAR',
    "uses_use_method": 'VARCHAR',
    "uses_remaining": 'BIGINT',
    "uses_total": 'BIGINT',
    "supply_print_max_supply": 'BIGINT',
    "supply_print_current_supply": 'BIGINT',
    "supply_edition_nonce": 'BIGINT',
    "mutable": 'BOOLEAN',
    "burnt": 'BOOLEAN',
    "token_info_supply": 'DECIMAL(20, 0)',
    "token_info_decimals": 'BIGINT',
    "token_info_token_program": 'VARCHAR',
    "token_info_mint_authority": 'VARCHAR',
    "token_info_freeze_authority": 'VARCHAR',
    "extra": 'VARCHAR'
  });

INSERT INTO "assets" BY NAME
SELECT * FROM read_json('out/demo/jsonl/assets/part-*.jsonl*', hive_partitioning = false,
  format = 'newline_delimited', maximum_object_size = 67108864,
  columns = {
    "id": 'VARCHAR',
    "interface": 'VARCHAR',
    "content_schema": 'VARCHAR',
    "content_json_uri": 'VARCHAR',
    "content_files": 'JSON',
    "content_metadata_name": 'VARCHAR',
    "content_metadata_symbol": 'VARCHAR',
    "content_metadata_description": 'VARCHAR',
    "content_metadata_attributes": 'JSON',
    "content_metadata_token_standard": 'VARCHAR',
    "content_links": 'JSON',
    "authorities": 'JSON',
    "ownership_owner": 'VARCHAR',
    "ownership_frozen": 'BOOLEAN',
    "ownership_delegated": 'BOOLEAN',
    "ownership_delegate": 'VARCHAR',
    "ownership_ownership_model": 'VARCHAR',
    "compression_eligible": 'BOOLEAN',
    "compression_compressed": 'BOOLEAN',
    "compression_data_hash": 'VARCHAR',
    "compression_creator_hash": 'VARCHAR',
    "compression_asset_hash": 'VARCHAR',
    "compression_tree": 'VARCHAR',
    "compression_seq": 'BIGINT',
    "compression_leaf_id": 'BIGINT',
    "royalty_royalty_model": 'VARCHAR',
    "royalty_target": 'VARCHAR',
    "royalty_percent": 'DOUBLE',
    "royalty_basis_points": 'BIGINT',
    "royalty_primary_sale_happened": 'BOOLEAN',
    "royalty_locked": 'BOOLEAN',
    "creators": 'JSON',
    "grouping": 'JSON',
    "collection": 'VARCHAR',
    "uses_use_method": 'VARCHAR',
    "uses_remaining": 'BIGINT',
    "uses_total": 'BIGINT',
    "supply_print_max_supply": 'BIGINT',
    "supply_print_current_supply": 'BIGINT',
    "supply_edition_nonce": 'BIGINT',
    "mutable": 'BOOLEAN',
    "burnt": 'BOOLEAN',
    "token_info_supply": 'DECIMAL(20, 0)',
    "token_info_decimals": 'BIGINT',
    "token_info_token_program": 'VARCHAR',
    "token_info_mint_authority": 'VARCHAR',
    "token_info_freeze_authority": 'VARCHAR',
    "extra": 'JSON'
  });
