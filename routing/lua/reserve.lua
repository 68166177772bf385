-- ARGV: now, epoch, hold, its amount, its end, the limit of each account or ''. Returns {1 if held
-- else 0, spent, held, spent, held, …}, or nothing if an account is stale. A hold that a rebuild put
-- in before is decided on as if it were new.
local now, hold, amount = tonumber(ARGV[1]), ARGV[3], tonumber(ARGV[4])
local accounts, fits = {}, true
for place, key in ipairs(KEYS) do
    local account = read(key, tonumber(ARGV[2]), now)
    if not account then return {} end
    if account.holds[hold] then account.held = account.held - amount end
    local limit = tonumber(ARGV[5 + place])
    if limit and amount > 0 and account.spent + account.held + amount > limit then fits = false end
    accounts[place] = account
end
local answer = {fits and 1 or 0}
for place, account in ipairs(accounts) do
    if fits then
        redis.call('HSET', KEYS[place], hold, ARGV[4] .. ':' .. ARGV[5])
    else
        redis.call('HDEL', KEYS[place], hold)
    end
    table.insert(answer, account.spent)
    table.insert(answer, account.held + (fits and amount or 0))
end
return answer
