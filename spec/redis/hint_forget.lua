-- Forgets a hint, after the database has forgotten the key. The fence that the database has by then stays: a
-- success under a lower one, which comes late, is not noted. The fields of a hint are in hint_look.lua.
--
-- KEYS[1]  the hint
-- ARGV[1]  the fence, 0 where the database has no record
-- ARGV[2]  how long it is kept, in ms
--
-- Reply: '1'.

redis.call('DEL', KEYS[1])
if ARGV[1] ~= '0' then
  local t = redis.call('TIME')
  local till = string.format('%.0f', tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000) + tonumber(ARGV[2]))
  redis.call('HSET', KEYS[1], 'fl', ARGV[1], 'fx', till)
  redis.call('PEXPIREAT', KEYS[1], till)
end
return '1'
