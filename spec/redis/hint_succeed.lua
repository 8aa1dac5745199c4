-- Notes a SUCCESS that the database has committed. Only the hint of the very claim becomes one: what is not
-- there any more (evicted, flushed, taken over, forgotten) stays so, and the database is asked. The fields of a
-- hint are in hint_look.lua.
--
-- KEYS[1]  the hint
-- ARGV[1]  owner of the claim
-- ARGV[2]  the fence of the claim in the database
-- ARGV[3]  how long the hint is kept, in ms
-- ARGV[4]  the result, '' for none
--
-- Reply: '1', or '0' where nothing was noted.

local function less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

local r = redis.call('HMGET', KEYS[1], 'st', 'ow', 'fl')
if r[1] ~= '1' or r[2] ~= ARGV[1] then return '0' end
if r[3] and less(ARGV[2], r[3]) then -- forgotten since
  redis.call('HSET', KEYS[1], 'st', '3')
  return '0'
end
redis.call('HSET', KEYS[1], 'st', '2', 're', ARGV[4])
redis.call('HDEL', KEYS[1], 'ow', 'lu', 'rd', 'po', 'fl', 'fx')
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return '1'
