-- ARGV: field and value; only of a task that is still open.
if redis.call('HGET', KEYS[1], 'state') == 'open' then
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
return {'done', 0}
