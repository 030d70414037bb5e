-- each night, in order, and once only: applying the same changes twice doubles rows

CREATE TABLE "new_changes" (
  "op"                              VARCHAR(65535) NOT NULL, -- What happened.
  "reason"                          VARCHAR(65535),          -- Of a delete: not known to the service, failed, or not among the ids.
  "id"                              VARCHAR(65535) NOT NULL, -- Asset id, a base58 public key.
  "changed"                         VARCHAR(65535),          -- Of an update: names of the columns that differ, in their order.
  "before"                          VARCHAR(65535),          -- Old values of these columns by name; of a delete the whole old row.
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
COPY "new_changes"
FROM '@stage/demo/parquet/changes/part-'
IAM_ROLE default
FORMAT PARQUET;

CREATE TABLE "new_creators" (
  "asset_id" VARCHAR(65535) NOT NULL, -- Id of the asset that the row belongs to.
  "position" BIGINT NOT NULL,         -- Position of the element in the asset's list, from 0.
  "address"  VARCHAR(65535),          -- Creator's public key.
  "share"    BIGINT,                  -- Share of the royalty in percent.
  "verified" BOOLEAN,                 -- Whether the creator has signed.
  "extra"    VARCHAR(65535)           -- All values without a column, or that do not fit their column; the element itself if it is not an object.
);

-- Files are read from S3 (s3://…); compressed csv and jsonl need GZIP or ZSTD at the end.
COPY "new_creators"
FROM '@stage/demo/parquet/creators/part-'
IAM_ROLE default
FORMAT PARQUET;

-- the time is the start of the export (startedAtMs of the manifest)

BEGIN;

UPDATE "assets" SET "valid_to" = CAST('2026-11-20 02:00:00' AS TIMESTAMP) WHERE "valid_to" IS NULL AND "id" IN (SELECT "id" FROM "new_changes");

INSERT INTO "assets" ("id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra", "valid_from")
SELECT "id", "interface", "content_schema", "content_json_uri", "content_files", "content_metadata_name", "content_metadata_symbol", "content_metadata_description", "content_metadata_attributes", "content_metadata_token_standard", "content_links", "authorities", "ownership_owner", "ownership_frozen", "ownership_delegated", "ownership_delegate", "ownership_ownership_model", "compression_eligible", "compression_compressed", "compression_data_hash", "compression_creator_hash", "compression_asset_hash", "compression_tree", "compression_seq", "compression_leaf_id", "royalty_royalty_model", "royalty_target", "royalty_percent", "royalty_basis_points", "royalty_primary_sale_happened", "royalty_locked", "creators", "grouping", "collection", "uses_use_method", "uses_remaining", "uses_total", "supply_print_max_supply", "supply_print_current_supply", "supply_edition_nonce", "mutable", "burnt", "token_info_supply", "token_info_decimals", "token_info_token_program", "token_info_mint_authority", "token_info_freeze_authority", "extra", CAST('2026-11-20 02:00:00' AS TIMESTAMP) FROM "new_changes" WHERE "op" <> 'delete';

UPDATE "creators" SET "valid_to" = CAST('2026-11-20 02:00:00' AS TIMESTAMP) WHERE "valid_to" IS NULL AND "asset_id" IN (SELECT "id" FROM "new_changes");

INSERT INTO "creators" ("asset_id", "position", "address", "share", "verified", "extra", "valid_from")
SELECT "asset_id", "position", "address", "share", "verified", "extra", CAST('2026-11-20 02:00:00' AS TIMESTAMP) FROM "new_creators" WHERE "asset_id" IN (SELECT "id" FROM "new_changes" WHERE "op" <> 'delete');

COMMIT;

DROP TABLE "new_changes";

DROP TABLE "new_creators";
