-- ARGV: hold, the recorded spend of each account (0 for a release). Spend only grows, so the greater
-- of two figures is the later one, in whatever order they arrive and however often.
for place, key in ipairs(KEYS) do
    local spent = tonumber(redis.call('HGET', key, 'spent'))
    if spent then
        redis.call('HDEL', key, ARGV[1])
        if tonumber(ARGV[1 + place]) > spent then
            redis.call('HSET', key, 'spent', ARGV[1 + place])
        end
    end
end
return 1
