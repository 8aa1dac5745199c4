-- Makes the record of a claim FAILED or DEAD, once what follows from it is durable elsewhere (DEDUP-020,
-- DEDUP-021). The fields of a record are in claim.lua.
--
-- KEYS[1], KEYS[2]  as the claim had them
-- ARGV[1]  owner of the claim; '' for a CRASH_LOOP, which holds none: it matches the fence and FAILED or expired
-- ARGV[2]  a random token of this call, sent again only where its reply was lost: the answer is the same then
-- ARGV[3]  the retention, in ms
-- ARGV[4]  the state: 3 FAILED, 4 DEAD
-- ARGV[5]  1 to give the attempt back, else 0 (DEDUP-023)
-- ARGV[6]  redrive_count, ARGV[7] position, ARGV[8] retry_count, ARGV[9] hold_count: those that the record keeps
-- ARGV[10], ARGV[11]  the fences of the claim; 0 for a key to leave alone
--
-- Reply: '1', or '0' where the claim is no longer held and nothing was written.

local t = redis.call('TIME')
local now = t[1] .. string.format('%03d', math.floor(tonumber(t[2]) / 1000))
local owner, call, retention, state, back = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1'
local expires = string.format('%.0f', tonumber(now) + tonumber(retention))
local ends, attempts, some = {}, {}, false

-- One less, and no less than 0. Decimal strings: doubles end at 2^53.
local function less1(n)
  if n == '0' then return n end
  if #n < 16 then return string.format('%.0f', tonumber(n) - 1) end
  local head, digit, zeros = string.match(n, '^(%d-)([1-9])(0*)$')
  return (string.gsub(head .. tostring(tonumber(digit) - 1) .. string.rep('9', #zeros), '^0+(%d)', '%1'))
end

for i, key in ipairs(KEYS) do
  local fence = ARGV[9 + i]
  if fence ~= '0' then
    local r = redis.call('HMGET', key, 'st', 'fe', 'ow', 'op', 'ex', 'at', 'lu')
    if r[1] == state and r[4] == call then return '1' end
    if r[2] ~= fence then return '0' end
    if owner ~= '' then
      if r[1] ~= '1' or r[3] ~= owner then return '0' end
    elseif r[1] ~= '3' and not (r[1] == '1' and tonumber(r[7] or '0') <= tonumber(now)) then
      return '0'
    end
    ends[i] = (r[5] and tonumber(r[5]) > tonumber(expires)) and r[5] or expires
    attempts[i] = back and less1(r[6] or '0') or (r[6] or '0')
    some = true
  end
end
if not some then return '0' end
for i, key in ipairs(KEYS) do
  if ends[i] then
    redis.call('HSET', key, 'st', state, 'at', attempts[i], 'rd', ARGV[6], 'po', ARGV[7], 'rc', ARGV[8], 'hc', ARGV[9],
      'op', call, 'lu', '0', 'up', now, 'ex', ends[i])
    redis.call('PEXPIREAT', key, ends[i])
  end
end
return '1'
