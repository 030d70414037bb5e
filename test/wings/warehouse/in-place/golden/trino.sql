CREATE TABLE IF NOT EXISTS "assets" (
  "id"              varchar      COMMENT 'Asset id, a base58 public key.',
  "creators"        varchar      COMMENT 'Creators, an array of objects with address, share and verified.',
  "royalty_percent" double       COMMENT 'Royalty as a fraction (0.05 is 5 %), as the service computed it.',
  "exported_at"     timestamp(3) COMMENT 'Start of the export, UTC.'
)
COMMENT 'One row per asset.'
WITH (
  format = 'PARQUET',
  external_location = 's3://bucket/out/parquet/assets/'
);

CREATE TABLE IF NOT EXISTS "assets" (
  "id"              varchar      COMMENT 'Asset id, a base58 public key.',
  "creators"        varchar      COMMENT 'Creators, an array of objects with address, share and verified.',
  "royalty_percent" double       COMMENT 'Royalty as a fraction (0.05 is 5 %), as the service computed it.',
  "exported_at"     timestamp(3) COMMENT 'Start of the export, UTC.',
  "day"             varchar      COMMENT 'The night: the day in the name of its folder.' WITH (
    partition_projection_type = 'date',
    partition_projection_format = 'yyyy-MM-dd',
    partition_projection_range = ARRAY['2026-11-20', 'NOW'],
    partition_projection_interval = 1,
    partition_projection_interval_unit = 'DAYS'
  )
)
COMMENT 'One row per asset.'
WITH (
  format = 'PARQUET',
  external_location = 's3://bucket/nightly/',
  partitioned_by = ARRAY['day'],
  partition_projection_enabled = true,
  partition_projection_location_template = 's3://bucket/nightly/date=${day}/parquet/assets/'
);
