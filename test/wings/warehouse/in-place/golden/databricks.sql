CREATE TABLE IF NOT EXISTS `assets` (
  `id`              STRING    COMMENT 'Asset id, a base58 public key.',
  `creators`        STRING    COMMENT 'Creators, an array of objects with address, share and verified.',
  `royalty_percent` DOUBLE    COMMENT 'Royalty as a fraction (0.05 is 5 %), as the service computed it.',
  `exported_at`     TIMESTAMP COMMENT 'Start of the export, UTC.'
)
USING PARQUET
COMMENT 'One row per asset.'
LOCATION 's3://bucket/out/parquet/assets/';

CREATE OR REPLACE TEMPORARY VIEW `assets_files`
USING PARQUET
OPTIONS (
  path 's3://bucket/nightly/date=*/parquet/assets/',
  basePath 's3://bucket/nightly',
  mergeSchema 'true'
);
CREATE OR REPLACE TEMPORARY VIEW `assets` AS
SELECT *, CAST(`date` AS STRING) AS `day` FROM `assets_files`;
