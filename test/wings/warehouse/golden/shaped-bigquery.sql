CREATE TABLE `assets` (
  `asset`       STRING NOT NULL    OPTIONS(description = 'Asset id, a base58 public key.'),
  `order`       STRING             OPTIONS(description = 'Creators, an array of objects with address, share and verified.'),
  `exported_at` TIMESTAMP NOT NULL OPTIONS(description = 'Start of the export, UTC.')
)
OPTIONS(description = 'One row per asset.');

LOAD DATA INTO `assets`
FROM FILES (format = 'PARQUET', uris = ['out/demo/parquet/assets/part-*']);

LOAD DATA INTO `assets`
FROM FILES (
  format = 'CSV', uris = ['out/demo/csv/assets/part-*'],
  skip_leading_rows = 1, allow_quoted_newlines = true, preserve_ascii_control_characters = true, null_marker = '\\N'
);

-- Numbers inside json columns are rounded to 64 bits here: csv and parquet keep every digit.
LOAD DATA INTO TEMP TABLE incoming (
  `asset` STRING,
  `order` JSON,
  `exported_at` TIMESTAMP
)
FROM FILES (format = 'JSON', uris = ['out/demo/jsonl/assets/part-*']);
INSERT INTO `assets` (
  `asset`,
  `order`,
  `exported_at`
)
SELECT
  `asset`,
  NULLIF(TO_JSON_STRING(`order`), 'null'),
  `exported_at`
FROM incoming;
DROP TABLE incoming;
