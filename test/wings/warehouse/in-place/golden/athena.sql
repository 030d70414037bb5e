CREATE EXTERNAL TABLE IF NOT EXISTS `assets` (
  `id`              string    COMMENT 'Asset id, a base58 public key.',
  `creators`        string    COMMENT 'Creators, an array of objects with address, share and verified.',
  `royalty_percent` double    COMMENT 'Royalty as a fraction (0.05 is 5 %), as the service computed it.',
  `exported_at`     timestamp COMMENT 'Start of the export, UTC.'
)
COMMENT 'One row per asset.'
STORED AS PARQUET
LOCATION 's3://bucket/out/parquet/assets/';

CREATE EXTERNAL TABLE IF NOT EXISTS `assets` (
  `id`              string    COMMENT 'Asset id, a base58 public key.',
  `creators`        string    COMMENT 'Creators, an array of objects with address, share and verified.',
  `royalty_percent` double    COMMENT 'Royalty as a fraction (0.05 is 5 %), as the service computed it.',
  `exported_at`     timestamp COMMENT 'Start of the export, UTC.'
)
COMMENT 'One row per asset.'
PARTITIONED BY (`day` string COMMENT 'The night: the day in the name of its folder.')
STORED AS PARQUET
LOCATION 's3://bucket/nightly/'
TBLPROPERTIES (
  'projection.enabled' = 'true',
  'projection.day.type' = 'date',
  'projection.day.format' = 'yyyy-MM-dd',
  'projection.day.range' = '2026-11-20,NOW',
  'projection.day.interval' = '1',
  'projection.day.interval.unit' = 'DAYS',
  'storage.location.template' = 's3://bucket/nightly/date=${day}/parquet/assets/'
);
