-- Marks the hint of a claim FAILED: the database refused it, or its delivery did not succeed. Whoever comes next
-- asks the database. The fields of a hint are in hint_look.lua.
--
-- KEYS[1]  the hint
-- ARGV[1]  owner of the claim
--
-- Reply: '1', or '0' where it is another's.

local r = redis.call('HMGET', KEYS[1], 'st', 'ow')
if r[1] ~= '1' or r[2] ~= ARGV[1] then return '0' end
redis.call('HSET', KEYS[1], 'st', '3')
return '1'
