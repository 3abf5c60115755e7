-- Acorns moved by swaps of the two markets, by day.
SELECT day, market, count(*) AS swaps, sum(acorns) AS acorns
FROM (
  SELECT date_trunc('day', block_timestamp) AS day, 'pool' AS market,
         CASE WHEN amount0 < 0 THEN -amount0 ELSE amount0 END AS acorns
  FROM pool__swap
  UNION ALL
  SELECT date_trunc('day', block_timestamp) AS day, 'pair' AS market,
         CAST(amount0_in + amount0_out AS int256) AS acorns
  FROM pair__swap
)
GROUP BY day, market
