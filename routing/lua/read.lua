-- Reads an account: its spend, the sum of its holds, and the holds. nil for a stale one.
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
local function read(key, epoch, now)
    local fields, account, held = redis.call('HGETALL', key), {holds = {}}, 0
    for at = 1, #fields, 2 do
        local amount, ends = string.match(fields[at + 1], '^(%d+):(%d+)$')
        if not amount then
            account[fields[at]] = fields[at + 1]
        elseif tonumber(ends) <= now then
            return nil
        else
            account.holds[fields[at]] = true
            held = held + tonumber(amount)
        end
    end
    if account.run ~= run or tonumber(account.epoch) < epoch then return nil end
    return {spent = tonumber(account.spent), held = held, holds = account.holds}
end
