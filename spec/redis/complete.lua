-- Makes the record of a claim SUCCESS (DEDUP-020). The fields of a record are in claim.lua.
--
-- KEYS[1], KEYS[2]  as the claim had them
-- ARGV[1]  owner of the claim
-- ARGV[2]  a random token of this call, sent again only where its reply was lost: the answer is the same then
-- ARGV[3]  the retention, in ms
-- ARGV[4]  the result kept for duplicates, '' for none
-- ARGV[5], ARGV[6]  the fences of the claim; 0 for a key to leave alone
--
-- Reply: '1', or '0' where the claim is no longer held and nothing was written.

local t = redis.call('TIME')
local now = t[1] .. string.format('%03d', math.floor(tonumber(t[2]) / 1000))
local owner, call, retention, result = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local expires = string.format('%.0f', tonumber(now) + tonumber(retention))
local ends, some = {}, false

for i, key in ipairs(KEYS) do
  if ARGV[4 + i] ~= '0' then
    local r = redis.call('HMGET', key, 'st', 'fe', 'ow', 'op', 'ex')
    if r[1] == '2' and r[4] == call then return '1' end
    if r[1] ~= '1' or r[2] ~= ARGV[4 + i] or r[3] ~= owner then return '0' end
    ends[i] = (r[5] and tonumber(r[5]) > tonumber(expires)) and r[5] or expires
    some = true
  end
end
if not some then return '0' end
for i, key in ipairs(KEYS) do
  if ends[i] then
    redis.call('HSET', key, 'st', '2', 'op', call, 'lu', '0', 'up', now, 'ex', ends[i])
    if result ~= '' then redis.call('HSET', key, 're', result) end
    redis.call('PEXPIREAT', key, ends[i])
  end
end
return '1'
