-- each night, in order, and once only: applying the same changes twice doubles rows

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO new_changes
FROM @stage/demo/parquet/changes/
FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO new_creators
FROM @stage/demo/parquet/creators/
FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE)
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
