-- Extends the hint of a claim whose lease the database has extended. The fields of a hint are in hint_look.lua.
--
-- KEYS[1]  the hint
-- ARGV[1]  owner of the claim
-- ARGV[2]  the lease from now on, in ms
--
-- Reply: '1', or '0' where it is another's.

local r = redis.call('HMGET', KEYS[1], 'st', 'ow', 'lu', 'fx')
if r[1] ~= '1' or r[2] ~= ARGV[1] then return '0' end
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
local till = math.max(now + tonumber(ARGV[2]), tonumber(r[3] or '0'))
redis.call('HSET', KEYS[1], 'lu', string.format('%.0f', till))
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.max(till, tonumber(r[4] or '0'))))
return '1'
