-- ARGV: how the fields begin that say what was promoted.
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return {'unknown', 0} end
if state ~= 'open' then return {state, 0} end
local cleared = redis.call('HLEN', KEYS[2])
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[1], 'size', 0)
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if field:sub(1, #ARGV[1]) == ARGV[1] then redis.call('HDEL', KEYS[1], field) end
end
return {'done', cleared}
