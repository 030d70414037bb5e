CREATE TABLE assets (
  asset       VARCHAR NOT NULL,        -- Asset id, a base58 public key.
  "ORDER"     ARRAY,                   -- Creators, an array of objects with address, share and verified.
  exported_at TIMESTAMP_TZ(6) NOT NULL -- Start of the export, UTC.
);

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO assets
FROM 'out/demo/parquet/assets/'
FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE)
MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE;

CREATE TABLE assets (
  asset       VARCHAR NOT NULL,        -- Asset id, a base58 public key.
  "ORDER"     VARCHAR,                 -- Creators, an array of objects with address, share and verified.
  exported_at TIMESTAMP_TZ(6) NOT NULL -- Start of the export, UTC.
);

-- The folder is a stage (@stage/…); files get there by PUT.
COPY INTO assets (
  asset,
  "ORDER",
  exported_at
)
FROM 'out/demo/csv/assets/'
FILE_FORMAT = (
  TYPE = CSV SKIP_HEADER = 1 FIELD_OPTIONALLY_ENCLOSED_BY = '"' EMPTY_FIELD_AS_NULL = TRUE NULL_IF = ('\\N')
  ESCAPE = NONE ESCAPE_UNENCLOSED_FIELD = NONE ENCODING = 'UTF8'
);

-- The folder is a stage (@stage/…); files get there by PUT.
-- Fractions inside json columns become doubles here: csv and parquet keep every digit.
CREATE TEMPORARY TABLE incoming (line VARIANT);
COPY INTO incoming
FROM 'out/demo/jsonl/assets/'
FILE_FORMAT = (TYPE = JSON);
INSERT INTO assets (
  asset,
  "ORDER",
  exported_at
)
SELECT
  line:asset::VARCHAR,
  TO_JSON(STRIP_NULL_VALUE(line:"order")),
  line:exported_at::TIMESTAMP_TZ(6)
FROM incoming;
DROP TABLE incoming;
