-- Looks whether Redis alone can answer a claim, in front of a database that is the truth, and otherwise notes
-- that one is being made. Only two answers are Redis' to give: SUCCESS with an equal fingerprint, and a live
-- PROCESSING, with an equal one too, where the delivery is not stale; all else asks the database (DEDUP-031).
--
-- KEYS[1]  the hint: <prefix>hint:{<scope>:<key>}
-- ARGV[1]  owner of the claim          ARGV[2]  fingerprint, '' for none
-- ARGV[3]  redrive_count               ARGV[4]  position (retry_count + hold_count)
-- ARGV[5]  the lease, in ms
--
-- Reply: {'DUPLICATE', '0', result}, {'IN_PROGRESS', wait in ms, ''} or {'ASK', '0', ''}.
--
-- A hint is a hash:
--   st state: 1 PROCESSING, 2 SUCCESS, 3 FAILED, which asks like none at all
--   ow owner  fp the fingerprint that was claimed with  rd redrive_count  po position  lu lease_until  re result
--   fl the fence of the database when the key was forgotten: what was claimed under a lower one is over
--   fx until when fl is kept
-- Times are ms since 1970 by TIME. Numbers are below 2^53 here; fences stay decimal strings.

local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
local owner, fingerprint, redrive, position = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local r = redis.call('HMGET', KEYS[1], 'st', 'ow', 'fp', 'rd', 'po', 'lu', 're', 'fx')
local print = r[3] or ''
if r[1] == '2' then
  if print == fingerprint then return {'DUPLICATE', '0', r[7] or ''} end
  return {'ASK', '0', ''}
end
local till = tonumber(r[6] or '0')
if r[1] == '1' and r[2] ~= owner and till > now then
  -- The database admitted the fingerprint of the claim that is live: of another one it may think otherwise.
  local life = tonumber(r[4] or '0')
  local stale = redrive < life or (redrive == life and position < tonumber(r[5] or '0'))
  if print ~= fingerprint or stale then return {'ASK', '0', ''} end
  return {'IN_PROGRESS', string.format('%.0f', till - now), ''}
end
till = now + tonumber(ARGV[5])
redis.call('HSET', KEYS[1], 'st', '1', 'ow', owner, 'fp', fingerprint, 'rd', ARGV[3], 'po', ARGV[4], 'lu', string.format('%.0f', till))
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.max(till, tonumber(r[8] or '0'))))
return {'ASK', '0', ''}
