CREATE TABLE "assets" (
  "asset"       VARCHAR NOT NULL,
  "order"       VARCHAR,
  "exported_at" TIMESTAMPTZ NOT NULL
);

INSERT INTO "assets" BY NAME
SELECT * FROM read_parquet('out/demo/parquet/assets/part-*.parquet', hive_partitioning = false);

INSERT INTO "assets" BY NAME
SELECT * FROM read_csv('out/demo/csv/assets/part-*.csv*', hive_partitioning = false,
  auto_detect = false, header = true, delim = ',', quote = '"', escape = '"',
  nullstr = '\N', allow_quoted_nulls = false, max_line_size = 67108864,
  columns = {
    "asset": 'VARCHAR',
    "order": 'VARCHAR',
    "exported_at": 'TIMESTAMPTZ'
  });

INSERT INTO "assets" BY NAME
SELECT * FROM read_json('out/demo/jsonl/assets/part-*.jsonl*', hive_partitioning = false,
  format = 'newline_delimited', maximum_object_size = 67108864,
  columns = {
    "asset": 'VARCHAR',
    "order": 'JSON',
    "exported_at": 'TIMESTAMPTZ'
  });
