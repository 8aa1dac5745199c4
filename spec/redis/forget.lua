-- Makes a key new again. A tombstone stays, which admits everything under the next fence, so that a worker that
-- still holds the claim writes nothing (DEDUP-025). The fields of a record are in claim.lua.
--
-- KEYS[1]  the record
-- ARGV[1]  a random token of this call, sent again only where its reply was lost: it is forgotten once then
-- ARGV[2]  the retention, in ms
--
-- Reply: '1', or '0' where there was no record.

local LARGEST = '9223372036854775807'
local r = redis.call('HMGET', KEYS[1], 'st', 'fe', 'cr', 'op')
if not r[1] then return '0' end
if r[4] == ARGV[1] then return '1' end
local t = redis.call('TIME')
local now = t[1] .. string.format('%03d', math.floor(tonumber(t[2]) / 1000))
local expires = string.format('%.0f', tonumber(now) + tonumber(ARGV[2]))

-- The next fence. Decimal strings: doubles end at 2^53.
local fence = r[2] or '0'
if #fence < 16 then
  fence = string.format('%.0f', tonumber(fence) + 1)
elseif fence ~= LARGEST then
  local head, digit, nines = string.match('0' .. fence, '^(%d-)([0-8])(9*)$')
  fence = (string.gsub(head .. tostring(tonumber(digit) + 1) .. string.rep('0', #nines), '^0+(%d)', '%1'))
end

redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'st', '3', 'fe', fence, 'cr', r[3] or now, 'up', now, 'ex', expires, 'op', ARGV[1])
redis.call('PEXPIREAT', KEYS[1], expires)
return '1'
