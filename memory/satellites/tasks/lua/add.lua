-- ARGV: item, its JSON, most items, most bytes. Sent again, the item is there already.
local task = redis.call('HMGET', KEYS[1], 'state', 'size', 'ttl')
if not task[1] then return {'unknown', 0} end
if task[1] ~= 'open' then return {task[1], 0} end
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return {'done', 0} end
if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[3]) then return {'count', 0} end
local left = tonumber(ARGV[4]) - tonumber(task[2])
if #ARGV[2] > left then return {'size', left} end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('HINCRBY', KEYS[1], 'size', #ARGV[2])
keep_open(task[3])
return {'done', 0}
