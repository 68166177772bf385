-- KEYS: task, items, owners, open tasks. Keeps all of them as long as the task, what several tasks
-- share as long as the last. Precedes `begin`, `add` and `end`.
local function keep(seconds)
    redis.call('EXPIRE', KEYS[1], seconds)
    redis.call('EXPIRE', KEYS[2], seconds)
    for _, shared in ipairs({KEYS[3], KEYS[4]}) do
        if redis.call('TTL', shared) < tonumber(seconds) then
            redis.call('EXPIRE', shared, seconds)
        end
    end
end
local function keep_open(seconds)
    redis.call('ZADD', KEYS[4], redis.call('TIME')[1] + seconds, KEYS[1])
    keep(seconds)
end
