CREATE TABLE assets (
  id                              VARCHAR NOT NULL, -- Asset id, a base58 public key.
  interface                       VARCHAR,          -- Interface type; an open list.
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
  extra                           VARCHAR           -- Every member that has no column of its own or does not fit it, under its path.
);

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO assets
FROM @stage/demo/parquet/assets/
FILE_FORMAT = (TYPE = PARQUET)
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

CREATE TABLE creators (
  asset_id VARCHAR NOT NULL,       -- Id of the asset that the row belongs to.
  position NUMBER(19, 0) NOT NULL, -- Place of the element in the asset's list, from 0.
  address  VARCHAR,                -- Creator's public key.
  share    NUMBER(19, 0),          -- Share of the royalty in percent.
  verified BOOLEAN,                -- Whether the creator has signed.
  extra    VARCHAR                 -- Every member that has no column of its own or does not fit it; the element itself when it is no object.
);

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO creators
FROM @stage/demo/parquet/creators/
FILE_FORMAT = (TYPE = PARQUET)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO creators (
  asset_id,
  position,
  address,
  share,
  verified,
  extra
)
FROM @stage/demo/csv/creators/
FILE_FORMAT = (
  TYPE = CSV SKIP_HEADER = 1 FIELD_OPTIONALLY_ENCLOSED_BY = '"' EMPTY_FIELD_AS_NULL = TRUE NULL_IF = ()
  ESCAPE = NONE ESCAPE_UNENCLOSED_FIELD = NONE ENCODING = 'UTF8'
);

-- The folder is a stage (@stage/…); files get there by PUT.
-- Fractions inside json columns become doubles here: csv and parquet keep every digit.
CREATE TEMPORARY TABLE incoming (line VARIANT);
COPY INTO incoming
FROM @stage/demo/jsonl/creators/
FILE_FORMAT = (TYPE = JSON);
INSERT INTO creators (
  asset_id,
  position,
  address,
  share,
  verified,
  extra
)
SELECT
  line:asset_id::VARCHAR,
  line:position::NUMBER(19, 0),
  line:address::VARCHAR,
  line:share::NUMBER(19, 0),
  line:verified::BOOLEAN,
  TO_JSON(STRIP_NULL_VALUE(line:extra))
FROM incoming;
DROP TABLE incoming;

CREATE TABLE authorities (
  asset_id VARCHAR NOT NULL,       -- Id of the asset that the row belongs to.
  position NUMBER(19, 0) NOT NULL, -- Place of the element in the asset's list, from 0.
  address  VARCHAR,                -- Authority's public key; may be empty.
  scopes   VARCHAR,                -- What the authority may do, an array of strings.
  extra    VARCHAR                 -- Every member that has no column of its own or does not fit it; the element itself when it is no object.
);

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO authorities
FROM @stage/demo/parquet/authorities/
FILE_FORMAT = (TYPE = PARQUET)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO authorities (
  asset_id,
  position,
  address,
  scopes,
  extra
)
FROM @stage/demo/csv/authorities/
FILE_FORMAT = (
  TYPE = CSV SKIP_HEADER = 1 FIELD_OPTIONALLY_ENCLOSED_BY = '"' EMPTY_FIELD_AS_NULL = TRUE NULL_IF = ()
  ESCAPE = NONE ESCAPE_UNENCLOSED_FIELD = NONE ENCODING = 'UTF8'
);

-- The folder is a stage (@stage/…); files get there by PUT.
-- Fractions inside json columns become doubles here: csv and parquet keep every digit.
CREATE TEMPORARY TABLE incoming (line VARIANT);
COPY INTO incoming
FROM @stage/demo/jsonl/authorities/
FILE_FORMAT = (TYPE = JSON);
INSERT INTO authorities (
  asset_id,
  position,
  address,
  scopes,
  extra
)
SELECT
  line:asset_id::VARCHAR,
  line:position::NUMBER(19, 0),
  line:address::VARCHAR,
  TO_JSON(STRIP_NULL_VALUE(line:scopes)),
  TO_JSON(STRIP_NULL_VALUE(line:extra))
FROM incoming;
DROP TABLE incoming;

CREATE TABLE grouping (
  asset_id            VARCHAR NOT NULL,       -- Id of the asset that the row belongs to.
  position            NUMBER(19, 0) NOT NULL, -- Place of the element in the asset's list, from 0.
  group_key           VARCHAR,                -- Kind of group, for example collection.
  group_value         VARCHAR,                -- The group, for a collection its public key.
  verified            BOOLEAN,                -- Whether the membership is verified; only with showUnverifiedCollections.
  collection_metadata VARCHAR,                -- Metadata of the collection, an object; only with showCollectionMetadata.
  extra               VARCHAR                 -- Every member that has no column of its own or does not fit it; the element itself when it is no object.
);

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO grouping
FROM @stage/demo/parquet/grouping/
FILE_FORMAT = (TYPE = PARQUET)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO grouping (
  asset_id,
  position,
  group_key,
  group_value,
  verified,
  collection_metadata,
  extra
)
FROM @stage/demo/csv/grouping/
FILE_FORMAT = (
  TYPE = CSV SKIP_HEADER = 1 FIELD_OPTIONALLY_ENCLOSED_BY = '"' EMPTY_FIELD_AS_NULL = TRUE NULL_IF = ()
  ESCAPE = NONE ESCAPE_UNENCLOSED_FIELD = NONE ENCODING = 'UTF8'
);

-- The folder is a stage (@stage/…); files get there by PUT.
-- Fractions inside json columns become doubles here: csv and parquet keep every digit.
CREATE TEMPORARY TABLE incoming (line VARIANT);
COPY INTO incoming
FROM @stage/demo/jsonl/grouping/
FILE_FORMAT = (TYPE = JSON);
INSERT INTO grouping (
  asset_id,
  position,
  group_key,
  group_value,
  verified,
  collection_metadata,
  extra
)
SELECT
  line:asset_id::VARCHAR,
  line:position::NUMBER(19, 0),
  line:group_key::VARCHAR,
  line:group_value::VARCHAR,
  line:verified::BOOLEAN,
  TO_JSON(STRIP_NULL_VALUE(line:collection_metadata)),
  TO_JSON(STRIP_NULL_VALUE(line:extra))
FROM incoming;
DROP TABLE incoming;

CREATE TABLE files (
  asset_id VARCHAR NOT NULL,       -- Id of the asset that the row belongs to.
  position NUMBER(19, 0) NOT NULL, -- Place of the element in the asset's list, from 0.
  uri      VARCHAR,                -- URI of the file, as the service has it.
  mime     VARCHAR,                -- MIME type of the file.
  contexts VARCHAR,                -- Contexts of the file; the specification leaves their form open.
  extra    VARCHAR                 -- Every member that has no column of its own or does not fit it; the element itself when it is no object.
);

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO files
FROM @stage/demo/parquet/files/
FILE_FORMAT = (TYPE = PARQUET)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO files (
  asset_id,
  position,
  uri,
  mime,
  contexts,
  extra
)
FROM @stage/demo/csv/files/
FILE_FORMAT = (
  TYPE = CSV SKIP_HEADER = 1 FIELD_OPTIONALLY_ENCLOSED_BY = '"' EMPTY_FIELD_AS_NULL = TRUE NULL_IF = ()
  ESCAPE = NONE ESCAPE_UNENCLOSED_FIELD = NONE ENCODING = 'UTF8'
);

-- The folder is a stage (@stage/…); files get there by PUT.
-- Fractions inside json columns become doubles here: csv and parquet keep every digit.
CREATE TEMPORARY TABLE incoming (line VARIANT);
COPY INTO incoming
FROM @stage/demo/jsonl/files/
FILE_FORMAT = (TYPE = JSON);
INSERT INTO files (
  asset_id,
  position,
  uri,
  mime,
  contexts,
  extra
)
SELECT
  line:asset_id::VARCHAR,
  line:position::NUMBER(19, 0),
  line:uri::VARCHAR,
  line:mime::VARCHAR,
  TO_JSON(STRIP_NULL_VALUE(line:contexts)),
  TO_JSON(STRIP_NULL_VALUE(line:extra))
FROM incoming;
DROP TABLE incoming;

CREATE TABLE attributes (
  asset_id     VARCHAR NOT NULL,       -- Id of the asset that the row belongs to.
  position     NUMBER(19, 0) NOT NULL, -- Place of the element in the asset's list, from 0.
  trait_type   VARCHAR,                -- Name of the trait.
  value        VARCHAR,                -- Text of the value: a number digit for digit, true or false, an object or array as JSON.
  value_type   VARCHAR,                -- JSON type of the value: string, number, boolean, object, array or null.
  display_type VARCHAR,                -- How the value is meant to be shown, for example number.
  extra        VARCHAR                 -- Every member that has no column of its own or does not fit it; the element itself when it is no object.
);

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO attributes
FROM @stage/demo/parquet/attributes/
FILE_FORMAT = (TYPE = PARQUET)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO attributes (
  asset_id,
  position,
  trait_type,
  value,
  value_type,
  display_type,
  extra
)
FROM @stage/demo/csv/attributes/
FILE_FORMAT = (
  TYPE = CSV SKIP_HEADER = 1 FIELD_OPTIONALLY_ENCLOSED_BY = '"' EMPTY_FIELD_AS_NULL = TRUE NULL_IF = ()
  ESCAPE = NONE ESCAPE_UNENCLOSED_FIELD = NONE ENCODING = 'UTF8'
);

-- The folder is a stage (@stage/…); files get there by PUT.
-- Fractions inside json columns become doubles here: csv and parquet keep every digit.
CREATE TEMPORARY TABLE incoming (line VARIANT);
COPY INTO incoming
FROM @stage/demo/jsonl/attributes/
FILE_FORMAT = (TYPE = JSON);
INSERT INTO attributes (
  asset_id,
  position,
  trait_type,
  value,
  value_type,
  display_type,
  extra
)
SELECT
  line:asset_id::VARCHAR,
  line:position::NUMBER(19, 0),
  line:trait_type::VARCHAR,
  line:value::VARCHAR,
  line:value_type::VARCHAR,
  line:display_type::VARCHAR,
  TO_JSON(STRIP_NULL_VALUE(line:extra))
FROM incoming;
DROP TABLE incoming;
