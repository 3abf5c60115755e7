-- Birch for a million acorns in the pair, at the last swap of each day.
SELECT date_trunc('day', block_timestamp) AS day, reserve1 * 1000000 / reserve0 AS birch_per_million_acorns
FROM (
  SELECT *, row_number() OVER (
    PARTITION BY date_trunc('day', block_timestamp) ORDER BY block_number DESC, log_index DESC
  ) AS place
  FROM pair__sync
)
WHERE place = 1
