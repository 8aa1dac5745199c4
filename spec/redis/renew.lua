-- Extends the lease of a claim, and never shortens it (DEDUP-020, DEDUP-028). The fields of a record are in
-- claim.lua.
--
-- KEYS[1], KEYS[2]  as the claim had them
-- ARGV[1]  owner of the claim
-- ARGV[2]  the lease from now on, in ms
-- ARGV[3]  the retention, in ms
-- ARGV[4], ARGV[5]  the fences of the claim; 0 for a key to leave alone
--
-- Reply: '1', or '0' where the claim is no longer held and nothing was written.

local t = redis.call('TIME')
local now = t[1] .. string.format('%03d', math.floor(tonumber(t[2]) / 1000))
local owner, lease, retention = ARGV[1], ARGV[2], ARGV[3]
local function larger(a, b) if tonumber(a) < tonumber(b) then return b end return a end
local till = string.format('%.0f', tonumber(now) + tonumber(lease))
local expires = string.format('%.0f', tonumber(now) + tonumber(retention))
local tills, ends, some = {}, {}, false

for i, key in ipairs(KEYS) do
  if ARGV[3 + i] ~= '0' then
    local r = redis.call('HMGET', key, 'st', 'fe', 'ow', 'lu', 'ex')
    if r[1] ~= '1' or r[2] ~= ARGV[3 + i] or r[3] ~= owner then return '0' end
    tills[i], ends[i] = larger(r[4] or '0', till), larger(r[5] or '0', expires)
    some = true
  end
end
if not some then return '0' end
for i, key in ipairs(KEYS) do
  if ends[i] then
    redis.call('HSET', key, 'lu', tills[i], 'up', now, 'ex', ends[i])
    redis.call('PEXPIREAT', key, larger(ends[i], tills[i])) -- a claim outlives its lease
  end
end
return '1'
