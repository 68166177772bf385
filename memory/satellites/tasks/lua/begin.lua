-- ARGV: seconds, owner, most open tasks, then fields and values of the task. Answers {word, 0}.
local state = redis.call('HGET', KEYS[1], 'state')
if state then return {state, 0} end
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', redis.call('TIME')[1])
redis.call('ZREM', KEYS[4], KEYS[1])
if redis.call('ZCARD', KEYS[4]) >= tonumber(ARGV[3]) then return {'many', 0} end
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[1], unpack(ARGV, 4))
redis.call('SADD', KEYS[3], ARGV[2])
keep_open(ARGV[1])
return {'done', 0}
