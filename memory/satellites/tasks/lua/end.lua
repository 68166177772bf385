-- ARGV: state, moment, seconds to remember that it ended.
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return {'unknown', 0} end
if state ~= 'open' then return {state, 0} end
local cleared = redis.call('HLEN', KEYS[2])
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[1], 'state', ARGV[1], 'ended_at', ARGV[2], 'size', 0)
redis.call('ZREM', KEYS[4], KEYS[1])
keep(ARGV[3])
return {'done', cleared}
