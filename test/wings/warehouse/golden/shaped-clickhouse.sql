CREATE TABLE `assets` (
  `asset`       String               COMMENT 'Asset id, a base58 public key.',
  `order`       Nullable(String)     COMMENT 'Creators, an array of objects with address, share and verified.',
  `exported_at` DateTime64(6, 'UTC') COMMENT 'Start of the export, UTC.'
)
ENGINE = MergeTree ORDER BY (`asset`, `exported_at`)
COMMENT 'One row per asset.';

INSERT INTO `assets` (`asset`, `order`, `exported_at`)
FROM INFILE 'out/demo/parquet/assets/part-*.parquet' FORMAT Parquet;

INSERT INTO `assets` (`asset`, `order`, `exported_at`)
FROM INFILE 'out/demo/csv/assets/part-*.csv*'
SETTINGS
  input_format_csv_trim_whitespaces = 0,
  format_csv_null_representation = '\\N',
  date_time_input_format = 'best_effort'
FORMAT CSVWithNames;

INSERT INTO `assets` (`asset`, `order`, `exported_at`)
FROM INFILE 'out/demo/jsonl/assets/part-*.jsonl*'
SETTINGS
  input_format_json_read_objects_as_strings = 1, input_format_json_read_arrays_as_strings = 1,
  input_format_json_read_numbers_as_strings = 1, input_format_json_read_bools_as_strings = 1,
  date_time_input_format = 'best_effort'
FORMAT JSONEachRow;
