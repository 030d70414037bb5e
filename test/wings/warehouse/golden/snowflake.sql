CREATE TABLE assets (
  id                              VARCHAR NOT NULL, -- Asset id, a base58 public key.
  interface                       VARCHAR,          -- Interface type; other values are possible.
  content_schema                  VARCHAR,          -- Schema URI of the content.
  content_json_uri                VARCHAR,          -- URI of the asset's JSON metadata; often empty.
  content_files                   VARCHAR,          -- Associated files, an array of objects with uri, mime and contexts.
  content_metadata_name           VARCHAR,          -- Name of the asset.
  content_metadata_symbol         VARCHAR,          -- Symbol of the asset.
  content_metadata_description    VARCHAR,          -- Description of the asset.
  content_metadata_attributes     VARCHAR,          -- Attributes, an array of objects with trait_type and value, or an object.
  content_metadata_token_standard VARCHAR,          -- Token standard; present for some assets only.
  content_links                   VARCHAR,          -- Links, an object with image, external_url and others.
  authorities                     VARCHAR,          -- Authorities, an array of objects with address and scopes.
  ownership_owner                 VARCHAR,          -- Owner's public key; may be empty.
  ownership_frozen                BOOLEAN,          -- Whether the asset is frozen.
  ownership_delegated             BOOLEAN,          -- Whether the asset is delegated.
  ownership_delegate              VARCHAR,          -- Delegate's public key; null when not delegated.
  ownership_ownership_model       VARCHAR,          -- Ownership model, for example single or token.
  compression_eligible            BOOLEAN,          -- Whether the asset is eligible for compression.
  compression_compressed          BOOLEAN,          -- Whether the asset is compressed.
  compression_data_hash           VARCHAR,          -- Data hash; empty when not compressed.
  compression_creator_hash        VARCHAR,          -- Creator hash; empty when not compressed.
  compression_asset_hash          VARCHAR,          -- Asset hash; empty when not compressed.
  compression_tree                VARCHAR,          -- Merkle tree id; empty when not compressed.
  compression_seq                 NUMBER(19, 0),    -- Sequence number; 0 when not compressed.
  compression_leaf_id             NUMBER(19, 0),    -- Leaf id; 0 when not compressed.
  royalty_royalty_model           VARCHAR,          -- Royalty model.
  royalty_target                  VARCHAR,          -- Target address for royalties.
  royalty_percent                 FLOAT,            -- Royalty as a fraction (0.05 is 5 %), as the service computed it.
  royalty_basis_points            NUMBER(19, 0),    -- Royalty in basis points (500 is 5 %).
  royalty_primary_sale_happened   BOOLEAN,          -- Whether the primary sale has occurred.
  royalty_locked                  BOOLEAN,          -- Whether the royalty is locked.
  creators                        VARCHAR,          -- Creators, an array of objects with address, share and verified.
  grouping                        VARCHAR,          -- Groups, an array of objects with group_key and group_value.
  collection                      VARCHAR,          -- The group_value of the first group whose group_key is collection.
  uses_use_method                 VARCHAR,          -- Use method.
  uses_remaining                  NUMBER(19, 0),    -- Remaining uses.
  uses_total                      NUMBER(19, 0),    -- Total uses.
  supply_print_max_supply         NUMBER(19, 0),    -- Maximum supply for prints.
  supply_print_current_supply     NUMBER(19, 0),    -- Current supply for prints.
  supply_edition_nonce            NUMBER(19, 0),    -- Edition nonce.
  mutable                         BOOLEAN,          -- Whether the asset is mutable.
  burnt                           BOOLEAN,          -- Whether the asset is burnt.
  token_info_supply               NUMBER(20, 0),    -- Supply in base units, an unsigned integer of 64 bits; only with showFungible.
  token_info_decimals             NUMBER(19, 0),    -- Decimal places of the token; only with showFungible.
  token_info_token_program        VARCHAR,          -- Token program; only with showFungible.
  token_info_mint_authority       VARCHAR,          -- Mint authority; only with showFungible.
  token_info_freeze_authority     VARCHAR,          -- Freeze authority; only with showFungible.
  extra                           VARCHAR           -- All values without a column, or that do not fit their column, by path.
);

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO assets
FROM @stage/demo/parquet/assets/
FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO assets (
  id,
  interface,
  content_schema,
  content_json_uri,
  content_files,
  content_metadata_name,
  content_metadata_symbol,
  content_metadata_description,
  content_metadata_attributes,
  content_metadata_token_standard,
  content_links,
  authorities,
  ownership_owner,
  ownership_frozen,
  ownership_delegated,
  ownership_delegate,
  ownership_ownership_model,
  compression_eligible,
  compression_compressed,
  compression_data_hash,
  compression_creator_hash,
  compression_asset_hash,
  compression_tree,
  compression_seq,
  compression_leaf_id,
  royalty_royalty_model,
  royalty_target,
  royalty_percent,
  royalty_basis_points,
  royalty_primary_sale_happened,
  royalty_locked,
  creators,
  grouping,
  collection,
  uses_use_method,
  uses_remaining,
  uses_total,
  supply_print_max_supply,
  supply_print_current_supply,
  supply_edition_nonce,
  mutable,
  burnt,
  token_info_supply,
  token_info_decimals,
  token_info_token_program,
  token_info_mint_authority,
  token_info_freeze_authority,
  extra
)
FROM @stage/demo/csv/assets/
FILE_FORMAT = (
  TYPE = CSV SKIP_HEADER = 1 FIELD_OPTIONALLY_ENCLOSED_BY = '"' EMPTY_FIELD_AS_NULL = TRUE NULL_IF = ()
  ESCAPE = NONE ESCAPE_UNENCLOSED_FIELD = NONE ENCODING = 'UTF8'
);

-- The folder is a stage (@stage/…); files get there by PUT.
-- Fractions inside json columns become doubles here: csv and parquet keep every digit.
CREATE TEMPORARY TABLE incoming (line VARIANT);
COPY INTO incoming
FROM @stage/demo/jsonl/assets/
FILE_FORMAT = (TYPE = JSON);
INSERT INTO assets (
  id,
  interface,
  content_schema,
  content_json_uri,
  content_files,
  content_metadata_name,
  content_metadata_symbol,
  content_metadata_description,
  content_metadata_attributes,
  content_metadata_token_standard,
  content_links,
  authorities,
  ownership_owner,
  ownership_frozen,
  ownership_delegated,
  ownership_delegate,
  ownership_ownership_model,
  compression_eligible,
  compression_compressed,
  compression_data_hash,
  compression_creator_hash,
  compression_asset_hash,
  compression_tree,
  compression_seq,
  compression_leaf_id,
  royalty_royalty_model,
  royalty_target,
  royalty_percent,
  royalty_basis_points,
  royalty_primary_sale_happened,
  royalty_locked,
  creators,
  grouping,
  collection,
  uses_use_method,
  uses_remaining,
  uses_total,
  supply_print_max_supply,
  supply_print_current_supply,
  supply_edition_nonce,
  mutable,
  burnt,
  token_info_supply,
  token_info_decimals,
  token_info_token_program,
  token_info_mint_authority,
  token_info_freeze_authority,
  extra
)
SELECT
  line:id::VARCHAR,
  line:interface::VARCHAR,
  line:content_schema::VARCHAR,
  line:content_json_uri::VARCHAR,
  TO_JSON(STRIP_NULL_VALUE(line:content_files)),
  line:content_metadata_name::VARCHAR,
  line:content_metadata_symbol::VARCHAR,
  line:content_metadata_description::VARCHAR,
  TO_JSON(STRIP_NULL_VALUE(line:content_metadata_attributes)),
  line:content_metadata_token_standard::VARCHAR,
  TO_JSON(STRIP_NULL_VALUE(line:content_links)),
  TO_JSON(STRIP_NULL_VALUE(line:authorities)),
  line:ownership_owner::VARCHAR,
  line:ownership_frozen::BOOLEAN,
  line:ownership_delegated::BOOLEAN,
  line:ownership_delegate::VARCHAR,
  line:ownership_ownership_model::VARCHAR,
  line:compression_eligible::BOOLEAN,
  line:compression_compressed::BOOLEAN,
  line:compression_data_hash::VARCHAR,
  line:compression_creator_hash::VARCHAR,
  line:compression_asset_hash::VARCHAR,
  line:compression_tree::VARCHAR,
  line:compression_seq::NUMBER(19, 0),
  line:compression_leaf_id::NUMBER(19, 0),
  line:royalty_royalty_model::VARCHAR,
  line:royalty_target::VARCHAR,
  line:royalty_percent::FLOAT,
  line:royalty_basis_points::NUMBER(19, 0),
  line:royalty_primary_sale_happened::BOOLEAN,
  line:royalty_locked::BOOLEAN,
  TO_JSON(STRIP_NULL_VALUE(line:creators)),
  TO_JSON(STRIP_NULL_VALUE(line:grouping)),
  line:collection::VARCHAR,
  line:uses_use_method::VARCHAR,
  line:uses_remaining::NUMBER(19, 0),
  line:uses_total::NUMBER(19, 0),
  line:supply_print_max_supply::NUMBER(19, 0),
  line:supply_print_current_supply::NUMBER(19, 0),
  line:supply_edition_nonce::NUMBER(19, 0),
  line:mutable::BOOLEAN,
  line:burnt::BOOLEAN,
  line:token_info_supply::NUMBER(20, 0),
  line:token_info_decimals::NUMBER(19, 0),
  line:token_info_token_program::VARCHAR,
  line:token_info_mint_authority::VARCHAR,
  line:token_info_freeze_authority::VARCHAR,
  TO_JSON(STRIP_NULL_VALUE(line:extra))
FROM incoming;
DROP TABLE incoming;
