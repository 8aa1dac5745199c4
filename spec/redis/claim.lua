-- Claims one message: admits it (DEDUP-001 to DEDUP-006, DEDUP-026, DEDUP-029), and writes what that means.
--
-- KEYS[1]  the record of the idempotency key: <prefix>{<scope>:<key>}
-- KEYS[2]  that of the key by the template before, during a migration (KEY-030); absent otherwise. On a Cluster
--          two keys are two slots: not there.
-- ARGV[1]  owner: a random token of this claim, sent again only where its reply was lost (DEDUP-013)
-- ARGV[2]  fingerprint, '' for none
-- ARGV[3]  redrive_count     ARGV[4]  retry_count     ARGV[5]  hold_count
-- ARGV[6]  the most attempts (max_retry + 4)
-- ARGV[7]  the lease, in ms  ARGV[8]  the retention, in ms
-- ARGV[9]  1 where the message was produced before the retention began, else 0
--
-- Reply, all of them strings: verdict (an admission of the spec, or TOO_OLD), fence, fence of KEYS[2], attempts,
-- lease_until, recovered 0 or 1, wait in ms, retry_count, hold_count, redrive_count of the record, its
-- fingerprint (of KEY_REUSED), result (of DUPLICATE). For CRASH_LOOP a fence of 0 is a record to leave alone.
--
-- A record is a hash; what is 0 or '' is left out:
--   st state: 1 PROCESSING, 2 SUCCESS, 3 FAILED, 4 DEAD
--   fe fence  at attempts  ow owner  rd redrive_count  po position  rc retry_count  hc hold_count
--   lu lease_until  fp fingerprint  re result  cr created_at  up updated_at  ex expires_at  op last call
-- Times are ms since 1970 by TIME. Integers stay decimal strings: Lua's numbers are doubles, which have no
-- integers beyond 2^53.

local FIELDS = {'st', 'fe', 'at', 'ow', 'rd', 'po', 'rc', 'hc', 'lu', 'fp', 're', 'cr', 'ex'}
local NUMBERS = {fe = 1, at = 1, rd = 1, po = 1, rc = 1, hc = 1, lu = 1, cr = 1, ex = 1}
local LARGEST = '9223372036854775807'

local function less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

local function larger(a, b) if less(a, b) then return b end return a end

-- The digit that stands i places before the last one.
local function digit(n, i)
  if i >= #n then return 0 end
  return string.byte(n, #n - i) - 48
end

-- a + b, at most LARGEST. Below 10^15 a double is exact.
local function add(a, b)
  if #a < 16 and #b < 16 then return string.format('%.0f', tonumber(a) + tonumber(b)) end
  local digits, carry = {}, 0
  for i = 0, math.max(#a, #b) - 1 do
    local d = digit(a, i) + digit(b, i) + carry
    carry = d >= 10 and 1 or 0
    table.insert(digits, 1, tostring(d % 10))
  end
  if carry == 1 then table.insert(digits, 1, '1') end
  local sum = table.concat(digits)
  if less(LARGEST, sum) then return LARGEST end
  return sum
end

-- a - b, where a is the larger.
local function subtract(a, b)
  if #a < 16 then return string.format('%.0f', tonumber(a) - tonumber(b)) end
  local digits, borrow = {}, 0
  for i = 0, #a - 1 do
    local d = digit(a, i) - digit(b, i) - borrow
    borrow = d < 0 and 1 or 0
    table.insert(digits, 1, tostring(d % 10))
  end
  return (string.gsub(table.concat(digits), '^0+(%d)', '%1'))
end

local t = redis.call('TIME')
local now = t[1] .. string.format('%03d', math.floor(tonumber(t[2]) / 1000))
local owner, fingerprint, redrive, retry, hold = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local most, lease, retention, old = ARGV[6], ARGV[7], ARGV[8], ARGV[9] == '1'
local position = add(retry, hold)

local function load(key)
  local values = redis.call('HMGET', key, unpack(FIELDS))
  if not values[1] then return nil end
  local r = {}
  for i, name in ipairs(FIELDS) do
    r[name] = values[i] or (NUMBERS[name] and '0' or '')
  end
  return r
end

-- DEDUP-001: the verdict, and with PROCEED the fence, attempts, lease_until, recovered; with IN_PROGRESS wait.
local function admit(r)
  if not r then return {verdict = 'PROCEED', fence = '1', attempts = '1', till = add(now, lease)} end
  if #r.fp == 25 and #fingerprint == 25 and string.sub(r.fp, 1, 8) == string.sub(fingerprint, 1, 8) and r.fp ~= fingerprint then
    return {verdict = 'KEY_REUSED'}
  end
  if r.st == '2' then return {verdict = 'DUPLICATE'} end
  if less(redrive, r.rd) or (redrive == r.rd and (r.st == '4' or less(position, r.po))) then
    return {verdict = 'STALE'}
  end
  if r.st == '1' and less(now, r.lu) then
    if r.ow ~= owner then return {verdict = 'IN_PROGRESS', wait = subtract(r.lu, now)} end
    return {verdict = 'PROCEED', fence = r.fe, attempts = r.at, till = r.lu}
  end
  local attempts = add(r.at, '1')
  if less(r.rd, redrive) then
    attempts = '1'
  elseif not less(r.at, most) then
    return {verdict = 'CRASH_LOOP'}
  end
  return {verdict = 'PROCEED', fence = add(r.fe, '1'), attempts = attempts, till = add(now, lease), recovered = r.st == '1'}
end

local function save(key, r, before)
  local args = {}
  for name, value in pairs(r) do
    if value ~= '' and value ~= '0' then
      args[#args + 1] = name
      args[#args + 1] = value
    end
  end
  if before then redis.call('DEL', key) end
  redis.call('HSET', key, unpack(args))
  redis.call('PEXPIREAT', key, larger(r.ex, r.lu)) -- a claim outlives its lease
end

local records, answers = {}, {}
for i, key in ipairs(KEYS) do
  records[i] = load(key) or false
end
if old and redrive == '0' and not records[1] and not records[2] then
  return {'TOO_OLD', '0', '0', '0', '0', '0', '0', retry, hold, '0', '', ''}
end

-- The counts are the larger of the delivery's and the records', within one life (DEDUP-011).
local counts, life = {retry, hold}, '0'
for i = 1, #KEYS do
  local r = records[i]
  answers[i] = admit(r or nil)
  if r then
    life = larger(life, r.rd)
    if r.rd == redrive then counts = {larger(counts[1], r.rc), larger(counts[2], r.hc)} end
  end
end

-- Of two keys the first of these verdicts counts (DEDUP-026).
local SEVERITY = {KEY_REUSED = 1, DUPLICATE = 2, STALE = 3, IN_PROGRESS = 4, CRASH_LOOP = 5, PROCEED = 6}
local g, decides = answers[1], records[1]
local p = answers[2]
if p then
  if SEVERITY[p.verdict] < SEVERITY[g.verdict] then
    g, decides = p, records[2]
  elseif g.verdict == 'PROCEED' and p.verdict == 'PROCEED' then
    g = {verdict = 'PROCEED', fence = g.fence, attempts = larger(g.attempts, p.attempts),
         till = less(p.till, g.till) and p.till or g.till, recovered = g.recovered or p.recovered}
  elseif g.verdict == 'IN_PROGRESS' and p.verdict == 'IN_PROGRESS' then
    g = {verdict = 'IN_PROGRESS', wait = larger(g.wait, p.wait)}
  end
end

local fences, result, print = {'0', '0'}, '', ''
local expires = add(now, retention)
if g.verdict == 'PROCEED' then
  for i, key in ipairs(KEYS) do
    local r = records[i]
    fences[i] = answers[i].fence
    save(key, {
      st = '1', fe = fences[i], at = g.attempts, ow = owner, rd = redrive, po = position, rc = counts[1], hc = counts[2],
      lu = g.till, fp = r and r.fp ~= '' and r.fp or fingerprint,
      cr = r and r.cr or now, up = now, ex = r and larger(r.ex, expires) or expires,
    }, r)
  end
elseif g.verdict == 'DUPLICATE' then
  result = decides.re
  for i, key in ipairs(KEYS) do
    local r = records[i]
    if not r or r.st ~= '2' then -- the other key is SUCCESS
      local before = r
      r = r or {fe = '0', at = '0', rd = '0', po = '0', rc = '0', hc = '0', fp = '', cr = now}
      r.st, r.fe, r.ow, r.lu, r.re, r.up, r.ex = '2', add(r.fe, '1'), '', '0', result, now, expires
      if r.fp == '' then r.fp = fingerprint end
      save(key, r, before)
    end
  end
elseif g.verdict == 'CRASH_LOOP' then
  for i = 1, #KEYS do
    if records[i] and records[i].st ~= '4' then fences[i] = records[i].fe end
  end
elseif g.verdict == 'KEY_REUSED' then
  print = decides.fp
end
return {g.verdict, fences[1], fences[2], g.attempts or '0', g.till or '0', g.recovered and '1' or '0', g.wait or '0',
        counts[1], counts[2], life, print, result}
