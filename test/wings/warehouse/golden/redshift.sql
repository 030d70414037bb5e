CREATE TABLE "assets" (
  "id"                              VARCHAR(65535) NOT NULL, -- Asset id, a base58 public key.
  "interface"                       VARCHAR(65535),          -- Interface type; other values are possible.
  "content_schema"                  VARCHAR(65535),          -- Schema URI of the content.
  "content_json_uri"                VARCHAR(65535),          -- URI of the asset's JSON metadata; often empty.
  "content_files"                   VARCHAR(65535),          -- Associated files, an array of objects with uri, mime and contexts.
  "content_metadata_name"           VARCHAR(65535),          -- Name of the asset.
  "content_metadata_symbol"         VARCHAR(65535),          -- Symbol of the asset.
  "content_metadata_description"    VARCHAR(65535),          -- Description of the asset.
  "content_metadata_attributes"     VARCHAR(65535),          -- Attributes, an array of objects with trait_type and value, or an object.
  "content_metadata_token_standard" VARCHAR(65535),          -- Token standard; present for some assets only.
  "content_links"                   VARCHAR(65535),          -- Links, an object with image, external_url and others.
  "authorities"                     VARCHAR(65535),          -- Authorities, an array of objects with address and scopes.
  "ownership_owner"                 VARCHAR(65535),          -- Owner's public key; may be empty.
  "ownership_frozen"                BOOLEAN,                 -- Whether the asset is frozen.
  "ownership_delegated"             BOOLEAN,                 -- Whether the asset is delegated.
  "ownership_delegate"              VARCHAR(65535),          -- Delegate's public key; null when not delegated.
  "ownership_ownership_model"       VARCHAR(65535),          -- Ownership model, for example single or token.
  "compression_eligible"            BOOLEAN,                 -- Whether the asset is eligible for compression.
  "compression_compressed"          BOOLEAN,                 -- Whether the asset is compressed.
  "compression_data_hash"           VARCHAR(65535),          -- Data hash; empty when not compressed.
  "compression_creator_hash"        VARCHAR(65535),          -- Creator hash; empty when not compressed.
  "compression_asset_hash"          VARCHAR(65535),          -- Asset hash; empty when not compressed.
  "compression_tree"                VARCHAR(65535),          -- Merkle tree id; empty when not compressed.
  "compression_seq"                 BIGINT,                  -- Sequence number; 0 when not compressed.
  "compression_leaf_id"             BIGINT,                  -- Leaf id; 0 when not compressed.
  "royalty_royalty_model"           VARCHAR(65535),          -- Royalty model.
  "royalty_target"                  VARCHAR(65535),          -- Target address for royalties.
  "royalty_percent"                 DOUBLE PRECISION,        -- Royalty as a fraction (0.05 is 5 %), as the service computed it.
  "royalty_basis_points"            BIGINT,                  -- Royalty in basis points (500 is 5 %).
  "royalty_primary_sale_happened"   BOOLEAN,                 -- Whether the primary sale has occurred.
  "royalty_locked"                  BOOLEAN,                 -- Whether the royalty is locked.
  "creators"                        VARCHAR(65535),          -- Creators, an array of objects with address, share and verified.
  "grouping"                        VARCHAR(65535),          -- Groups, an array of objects with group_key and group_value.
  "collection"                      VARCHAR(65535),          -- The group_value of the first group whose group_key is collection.
  "uses_use_method"                 VARCHAR(65535),          -- Use method.
  "uses_remaining"                  BIGINT,                  -- Remaining uses.
  "uses_total"                      BIGINT,                  -- Total uses.
  "supply_print_max_supply"         BIGINT,                  -- Maximum supply for prints.
  "supply_print_current_supply"     BIGINT,                  -- Current supply for prints.
  "supply_edition_nonce"            BIGINT,                  -- Edition nonce.
  "mutable"                         BOOLEAN,                 -- Whether the asset is mutable.
  "burnt"                           BOOLEAN,                 -- Whether the asset is burnt.
  "token_info_supply"               DECIMAL(20, 0),          -- Supply in base units, an unsigned integer of 64 bits; only with showFungible.
  "token_info_decimals"             BIGINT,                  -- Decimal places of the token; only with showFungible.
  "token_info_token_program"        VARCHAR(65535),          -- Token program; only with showFungible.
  "token_info_mint_authority"       VARCHAR(65535),          -- Mint authority; only with showFungible.
  "token_info_freeze_authority"     VARCHAR(65535),          -- Freeze authority; only with showFungible.
  "extra"                           VARCHAR(65535)           -- All values without a column, or that do not fit their column, by path.
);

-- Files are read from S3 (s3://…); compressed csv and jsonl need GZIP or ZSTD at the end.
COPY "assets"
FROM 's3://bucket/demo/parquet/assets/part-'
IAM_ROLE default
FORMAT PARQUET;

-- Files are read from S3 (s3://…); compressed csv and jsonl need GZIP or ZSTD at the end.
-- Where null and the empty string must stay apart, write CSV with csv.dialect: redshift, or load parquet.
COPY "assets" (
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
FROM 's3://bucket/demo/csv/assets/part-'
IAM_ROLE default
FORMAT CSV IGNOREHEADER 1 EMPTYASNULL;

-- Files are read from S3 (s3://…); compressed csv and jsonl need GZIP or ZSTD at the end.
-- Numbers inside json columns are read into SUPER here: parquet keeps every digit.
CREATE TEMP TABLE incoming (
  "id" VARCHAR(65535),
  "interface" VARCHAR(65535),
  "content_schema" VARCHAR(65535),
  "content_json_uri" VARCHAR(65535),
  "content_files" SUPER,
  "content_metadata_name" VARCHAR(65535),
  "content_metadata_symbol" VARCHAR(65535),
  "content_metadata_description" VARCHAR(65535),
  "content_metadata_attributes" SUPER,
  "content_metadata_token_standard" VARCHAR(65535),
  "content_links" SUPER,
  "authorities" SUPER,
  "ownership_owner" VARCHAR(65535),
  "ownership_frozen" BOOLEAN,
  "ownership_delegated" BOOLEAN,
  "ownership_delegate" VARCHAR(65535),
  "ownership_ownership_model" VARCHAR(65535),
  "compression_eligible" BOOLEAN,
  "compression_compressed" BOOLEAN,
  "compression_data_hash" VARCHAR(65535),
  "compression_creator_hash" VARCHAR(65535),
  "compression_asset_hash" VARCHAR(65535),
  "compression_tree" VARCHAR(65535),
  "compression_seq" BIGINT,
  "compression_leaf_id" BIGINT,
  "royalty_royalty_model" VARCHAR(65535),
  "royalty_target" VARCHAR(65535),
  "royalty_percent" DOUBLE PRECISION,
  "royalty_basis_points" BIGINT,
  "royalty_primary_sale_happened" BOOLEAN,
  "royalty_locked" BOOLEAN,
  "creators" SUPER,
  "grouping" SUPER,
  "collection" VARCHAR(65535),
  "uses_use_method" VARCHAR(65535),
  "uses_remaining" BIGINT,
  "uses_total" BIGINT,
  "supply_print_max_supply" BIGINT,
  "supply_print_current_supply" BIGINT,
  "supply_edition_nonce" BIGINT,
  "mutable" BOOLEAN,
  "burnt" BOOLEAN,
  "token_info_supply" DECIMAL(20, 0),
  "token_info_decimals" BIGINT,
  "token_info_token_program" VARCHAR(65535),
  "token_info_mint_authority" VARCHAR(65535),
  "token_info_freeze_authority" VARCHAR(65535),
  "extra" SUPER
);
COPY incoming
FROM 's3://bucket/demo/jsonl/assets/part-'
IAM_ROLE default
FORMAT AS JSON 'auto';
INSERT INTO "assets"
SELECT
  "id",
  "interface",
  "content_schema",
  "content_json_uri",
  NULLIF(JSON_SERIALIZE("content_files"), 'null'),
  "content_metadata_name",
  "content_metadata_symbol",
  "content_metadata_description",
  NULLIF(JSON_SERIALIZE("content_metadata_attributes"), 'null'),
  "content_metadata_token_standard",
  NULLIF(JSON_SERIALIZE("content_links"), 'null'),
  NULLIF(JSON_SERIALIZE("authorities"), 'null'),
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
  NULLIF(JSON_SERIALIZE("creators"), 'null'),
  NULLIF(JSON_SERIALIZE("grouping"), 'null'),
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
  NULLIF(JSON_SERIALIZE("extra"), 'null')
FROM incoming;
DROP TABLE incoming;
