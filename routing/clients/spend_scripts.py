"""The steps of the budget counters in Redis, each of them one atomic script.

An account is a hash (`spent`, `held`, `count` of reservations, all whole micro-dollars, and under
which server and epoch it was made) and a sorted set of its reservations by the millisecond at which
they expire. It is worth nothing unless it is whole, was made on the server that answers now, in no
earlier epoch than the caller knows, and holds nothing that has expired: a server that was started
anew or took over may have forgotten the last writes, keys may have been evicted one by one, and
what became of a call whose reservation expired only the durable record knows. Then it is `stale`
and is made anew from the record.
"""

_READ = """
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
local function read(place, epoch, now)
    local account, holds = KEYS[place * 2 - 1], KEYS[place * 2]
    local kept = redis.call('HMGET', account, 'run', 'epoch', 'spent', 'held', 'count')
    if kept[1] ~= run or tonumber(kept[2]) < epoch then return nil end
    if redis.call('ZCARD', holds) ~= tonumber(kept[5]) then return nil end
    if redis.call('ZRANGEBYSCORE', holds, '-inf', now, 'LIMIT', 0, 1)[1] then return nil end
    return {epoch = tonumber(kept[2]), spent = tonumber(kept[3]), held = tonumber(kept[4])}
end
"""

# KEYS: account and holds, by turns. ARGV: now. Answers {epoch, spent, held, spent, held, …}, the
# epoch being the least one, or nothing where one is stale.
LOOK = (
    _READ
    + """
local answer = {0}
for place = 1, #KEYS / 2 do
    local found = read(place, 0, ARGV[1])
    if not found then return {} end
    if place == 1 or found.epoch < answer[1] then answer[1] = found.epoch end
    table.insert(answer, found.spent)
    table.insert(answer, found.held)
end
return answer
"""
)

# ARGV: now, epoch, reservation, its amount, its end, then for each account its limit, empty for
# none. Answers {1 where it is held else 0, spent, held, …}, or nothing where one is stale. A
# reservation that is there already, because the record told of it, is decided as if it were not.
RESERVE = (
    _READ
    + """
local now, epoch, reservation, amount = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local found, fits = {}, true
for place = 1, #KEYS / 2 do
    local account = read(place, epoch, now)
    if not account then return {} end
    account.known = redis.call('ZSCORE', KEYS[place * 2], reservation)
    if account.known then account.held = account.held - amount end
    local limit = tonumber(ARGV[5 + place])
    if limit and amount > 0 and account.spent + account.held + amount > limit then fits = false end
    found[place] = account
end
local answer = {fits and 1 or 0}
for place, account in ipairs(found) do
    local change = 0
    if fits and not account.known then
        redis.call('ZADD', KEYS[place * 2], ARGV[5], reservation)
        redis.call('PEXPIRE', KEYS[place * 2], redis.call('PTTL', KEYS[place * 2 - 1]))
        change = 1
    elseif account.known and not fits then
        redis.call('ZREM', KEYS[place * 2], reservation)
        change = -1
    end
    if change ~= 0 then
        if amount > 0 then
            redis.call('HINCRBY', KEYS[place * 2 - 1], 'held', change * amount)
        end
        redis.call('HINCRBY', KEYS[place * 2 - 1], 'count', change)
    end
    table.insert(answer, account.spent)
    table.insert(answer, account.held + (fits and amount or 0))
end
return answer
"""
)

# ARGV: reservation, its amount, then for each account what the record says is spent (0 for a
# release). Spend only grows, so the greater of two figures is the later one, in whatever order they
# arrive and however often.
SETTLE = """
for place = 1, #KEYS / 2 do
    local account, holds = KEYS[place * 2 - 1], KEYS[place * 2]
    local spent = redis.call('HGET', account, 'spent')
    if spent then
        if redis.call('ZREM', holds, ARGV[1]) == 1 then
            if ARGV[2] ~= '0' then redis.call('HINCRBY', account, 'held', '-' .. ARGV[2]) end
            redis.call('HINCRBY', account, 'count', -1)
        end
        if tonumber(ARGV[2 + place]) > tonumber(spent) then
            redis.call('HSET', account, 'spent', ARGV[2 + place])
        end
    end
end
return 1
"""

# ARGV: now, epoch, token, how long the claim holds. Answers the places of the stale accounts, which
# the caller has to make anew.
CLAIM = (
    _READ
    + """
local claimed = {}
for place = 1, #KEYS / 2 do
    if not read(place, tonumber(ARGV[2]), ARGV[1]) then
        redis.call('DEL', KEYS[place * 2 - 1], KEYS[place * 2])
        redis.call('HSET', KEYS[place * 2 - 1], 'claim', ARGV[3])
        redis.call('PEXPIRE', KEYS[place * 2 - 1], ARGV[4])
        table.insert(claimed, place)
    end
end
return claimed
"""
)

# ARGV: epoch, token, then for each account how long it is kept, what is spent, the number of its
# reservations, and of each its id, amount and end. Does nothing where a claim is gone: the server
# forgot in between, or it took too long.
REBUILD = (
    _READ
    + """
for place = 1, #KEYS / 2 do
    if redis.call('HGET', KEYS[place * 2 - 1], 'claim') ~= ARGV[2] then return 0 end
end
local at = 3
for place = 1, #KEYS / 2 do
    local account, holds = KEYS[place * 2 - 1], KEYS[place * 2]
    local kept, spent, count, held = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), 0
    at = at + 3
    redis.call('DEL', account, holds)
    for _ = 1, count do
        redis.call('ZADD', holds, ARGV[at + 2], ARGV[at])
        held = held + tonumber(ARGV[at + 1])
        at = at + 3
    end
    redis.call('HSET', account, 'run', run, 'epoch', ARGV[1], 'spent', spent, 'held',
        string.format('%.0f', held), 'count', count)
    redis.call('PEXPIRE', account, kept)
    redis.call('PEXPIRE', holds, kept)
end
return 1
"""
)
