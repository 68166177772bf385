-- ARGV: now, epoch, each account as JSON. Replaces those that are stale.
for place, key in ipairs(KEYS) do
    if not read(key, tonumber(ARGV[2]), tonumber(ARGV[1])) then
        local account = cjson.decode(ARGV[2 + place])
        redis.call('DEL', key)
        redis.call('HSET', key, 'run', run, 'epoch', ARGV[2], 'spent', account.spent)
        for hold, value in pairs(account.holds) do redis.call('HSET', key, hold, value) end
        redis.call('PEXPIRE', key, account.kept)
    end
end
return 1
