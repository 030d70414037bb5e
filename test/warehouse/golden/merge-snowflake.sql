-- each night, in order, and once only: applying the same changes twice doubles rows

CREATE TABLE new_changes (
  op                              VARCHAR NOT NULL, -- What happened.
  reason                          VARCHAR,          -- Of a delete: not known to the service, failed, or not among the ids.
  id                              VARCHAR NOT NULL, -- Asset id, a base58 public key.
  changed                         VARCHAR,          -- Of an update: names of the columns that differ, in their order.
  before                          VARCHAR,          -- Old values of these columns by name; of a delete the whole old row.
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
COPY INTO new_changes
FROM @stage/demo/parquet/changes/
FILE_FORMAT = (TYPE = PARQUET)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;

CREATE TABLE new_creators (
  asset_id VARCHAR NOT NULL,       -- Id of the asset that the row belongs to.
  position NUMBER(19, 0) NOT NULL, -- Position of the element in the asset's list, from 0.
  address  VARCHAR,                -- Creator's public key.
  share    NUMBER(19, 0),          -- Share of the royalty in percent.
  verified BOOLEAN,                -- Whether the creator has signed.
  extra    VARCHAR                 -- All values without a column, or that do not fit their column; the element itself if it is not an object.
);

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO new_creators
FROM @stage/demo/parquet/creators/
FILE_FORMAT = (TYPE = PARQUET)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;

BEGIN;

DELETE FROM assets WHERE id IN (SELECT id FROM new_changes);

INSERT INTO assets (id, interface, content_schema, content_json_uri, content_files, content_metadata_name, content_metadata_symbol, content_metadata_description, content_metadata_attributes, content_metadata_token_standard, content_links, authorities, ownership_owner, ownership_frozen, ownership_delegated, ownership_delegate, ownership_ownership_model, compression_eligible, compression_compressed, compression_data_hash, compression_creator_hash, compression_asset_hash, compression_tree, compression_seq, compression_leaf_id, royalty_royalty_model, royalty_target, royalty_percent, royalty_basis_points, royalty_primary_sale_happened, royalty_locked, creators, grouping, collection, uses_use_method, uses_remaining, uses_total, supply_print_max_supply, supply_print_current_supply, supply_edition_nonce, mutable, burnt, token_info_supply, token_info_decimals, token_info_token_program, token_info_mint_authority, token_info_freeze_authority, extra)
SELECT id, interface, content_schema, content_json_uri, content_files, content_metadata_name, content_metadata_symbol, content_metadata_description, content_metadata_attributes, content_metadata_token_standard, content_links, authorities, ownership_owner, ownership_frozen, ownership_delegated, ownership_delegate, ownership_ownership_model, compression_eligible, compression_compressed, compression_data_hash, compression_creator_hash, compression_asset_hash, compression_tree, compression_seq, compression_leaf_id, royalty_royalty_model, royalty_target, royalty_percent, royalty_basis_points, royalty_primary_sale_happened, royalty_locked, creators, grouping, collection, uses_use_method, uses_remaining, uses_total, supply_print_max_supply, supply_print_current_supply, supply_edition_nonce, mutable, burnt, token_info_supply, token_info_decimals, token_info_token_program, token_info_mint_authority, token_info_freeze_authority, extra FROM new_changes WHERE op <> 'delete';

DELETE FROM creators WHERE asset_id IN (SELECT id FROM new_changes);

INSERT INTO creators (asset_id, position, address, share, verified, extra)
SELECT asset_id, position, address, share, verified, extra FROM new_creators WHERE asset_id IN (SELECT id FROM new_changes WHERE op <> 'delete');

COMMIT;

DROP TABLE new_changes;

DROP TABLE new_creators;
