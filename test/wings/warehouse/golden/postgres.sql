CREATE TABLE "assets" (
  "id"                              text NOT NULL,    -- Asset id, a base58 public key.
  "interface"                       text,             -- Interface type; other values are possible.
  "content_schema"                  text,             -- Schema URI of the content.
  "content_json_uri"                text,             -- URI of the asset's JSON metadata; often empty.
  "content_files"                   json,             -- Associated files, an array of objects with uri, mime and contexts.
  "content_metadata_name"           text,             -- Name of the asset.
  "content_metadata_symbol"         text,             -- Symbol of the asset.
  "content_metadata_description"    text,             -- Description of the asset.
  "content_metadata_attributes"     json,             -- Attributes, an array of objects with trait_type and value, or an object.
  "content_metadata_token_standard" text,             -- Token standard; present for some assets only.
  "content_links"                   json,             -- Links, an object with image, external_url and others.
  "authorities"                     json,             -- Authorities, an array of objects with address and scopes.
  "ownership_owner"                 text,             -- Owner's public key; may be empty.
  "ownership_frozen"                boolean,          -- Whether the asset is frozen.
  "ownership_delegated"             boolean,          -- Whether the asset is delegated.
  "ownership_delegate"              text,             -- Delegate's public key; null when not delegated.
  "ownership_ownership_model"       text,             -- Ownership model, for example single or token.
  "compression_eligible"            boolean,          -- Whether the asset is eligible for compression.
  "compression_compressed"          boolean,          -- Whether the asset is compressed.
  "compression_data_hash"           text,             -- Data hash; empty when not compressed.
  "compression_creator_hash"        text,             -- Creator hash; empty when not compressed.
  "compression_asset_hash"          text,             -- Asset hash; empty when not compressed.
  "compression_tree"                text,             -- Merkle tree id; empty when not compressed.
  "compression_seq"                 bigint,           -- Sequence number; 0 when not compressed.
  "compression_leaf_id"             bigint,           -- Leaf id; 0 when not compressed.
  "royalty_royalty_model"           text,             -- Royalty model.
  "royalty_target"                  text,             -- Target address for royalties.
  "royalty_percent"                 double precision, -- Royalty as a fraction (0.05 is 5 %), as the service computed it.
  "royalty_basis_points"            bigint,           -- Royalty in basis points (500 is 5 %).
  "royalty_primary_sale_happened"   boolean,          -- Whether the primary sale has occurred.
  "royalty_locked"                  boolean,          -- Whether the royalty is locked.
  "creators"                        json,             -- Creators, an array of objects with address, share and verified.
  "grouping"                        json,             -- Groups, an array of objects with group_key and group_value.
  "collection"                      text,             -- The group_value of the first group whose group_key is collection.
  "uses_use_method"                 text,             -- Use method.
  "uses_remaining"                  bigint,           -- Remaining uses.
  "uses_total"                      bigint,           -- Total uses.
  "supply_print_max_supply"         bigint,           -- Maximum supply for prints.
  "supply_print_current_supply"     bigint,           -- Current supply for prints.
  "supply_edition_nonce"            bigint,           -- Edition nonce.
  "mutable"                         boolean,          -- Whether the asset is mutable.
  "burnt"                           boolean,          -- Whether the asset is burnt.
  "token_info_supply"               numeric(20, 0),   -- Supply in base units, an unsigned integer of 64 bits; only with showFungible.
  "token_info_decimals"             bigint,           -- Decimal places of the token; only with showFungible.
  "token_info_token_program"        text,             -- Token program; only with showFungible.
  "token_info_mint_authority"       text,             -- Mint authority; only with showFungible.
  "token_info_freeze_authority"     text,             -- Freeze authority; only with showFungible.
  "extra"                           json              -- All values without a column, or that do not fit their column, by path.
);

-- PostgreSQL cannot read Parquet. Run this in DuckDB; replace dbname=warehouse by your database.
ATTACH 'dbname=warehouse' AS warehouse (TYPE postgres);
INSERT INTO warehouse."assets" BY NAME
SELECT * FROM read_parquet('out/demo/parquet/assets/part-*.parquet', hive_partitioning = false);

-- In psql. For compressed parts: gzip -dc or zstd -dc of each part before tail.
\copy "assets" ("id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra") FROM PROGRAM 'tail -q -n +2 "out/demo/csv/assets/"part-*.csv' WITH (FORMAT csv)

-- In psql. For compressed parts: gzip -dc or zstd -dc instead of cat.
CREATE TEMP TABLE lines (line json);
\copy lines FROM PROGRAM 'cat "out/demo/jsonl/assets/"part-*.jsonl' WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')
INSERT INTO "assets" (
  "id",
  "interface",
  "content_schema",
  "content_json_uri",
  "content_files",
  "content_metadata_name",
  "content_metadata_symbol",
  "content_metadata_description",
  "content_metadata_attributes",
  "content_metadata_token_standard",
  "content_links",
  "authorities",
  "ownership_owner",
  "ownership_frozen",
  "ownership_delegated",
  "ownership_delegate",
  "ownership_ownership_model",
  "compression_eligible",
  "compression_compressed",
  "compression_data_hash",
  "compression_creator_hash",
  "compression_asset_hash",
  "compression_tree",
  "compression_seq",
  "compression_leaf_id",
  "royalty_royalty_model",
  "royalty_target",
  "royalty_percent",
  "royalty_basis_points",
  "royalty_primary_sale_happened",
  "royalty_locked",
  "creators",
  "grouping",
  "collection",
  "uses_use_method",
  "uses_remaining",
  "uses_total",
  "supply_print_max_supply",
  "supply_print_current_supply",
  "supply_edition_nonce",
  "mutable",
  "burnt",
  "token_info_supply",
  "token_info_decimals",
  "token_info_token_program",
  "token_info_mint_authority",
  "token_info_freeze_authority",
  "extra"
)
SELECT
  filled."id",
  filled."interface",
  filled."content_schema",
  filled."content_json_uri",
  filled."content_files",
  filled."content_metadata_name",
  filled."content_metadata_symbol",
  filled."content_metadata_description",
  filled."content_metadata_attributes",
  filled."content_metadata_token_standard",
  filled."content_links",
  filled."authorities",
  filled."ownership_owner",
  filled."ownership_frozen",
  filled."ownership_delegated",
  filled."ownership_delegate",
  filled."ownership_ownership_model",
  filled."compression_eligible",
  filled."compression_compressed",
  filled."compression_data_hash",
  filled."compression_creator_hash",
  filled."compression_asset_hash",
  filled."compression_tree",
  filled."compression_seq",
  filled."compression_leaf_id",
  filled."royalty_royalty_model",
  filled."royalty_target",
  filled."royalty_percent",
  filled."royalty_basis_points",
  filled."royalty_primary_sale_happened",
  filled."royalty_locked",
  filled."creators",
  filled."grouping",
  filled."collection",
  filled."uses_use_method",
  filled."uses_remaining",
  filled."uses_total",
  filled."supply_print_max_supply",
  filled."supply_print_current_supply",
  filled."supply_edition_nonce",
  filled."mutable",
  filled."burnt",
  filled."token_info_supply",
  filled."token_info_decimals",
  filled."token_info_token_program",
  filled."token_info_mint_authority",
  filled."token_info_freeze_authority",
  filled."extra"
FROM lines, json_populate_record(NULL::"assets", line) AS filled;
DROP TABLE lines;
