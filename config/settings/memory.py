"""Memory: limits, caps, thresholds and retention."""

from __future__ import annotations

from config.env import read_bool, read_float, read_int, read_list, read_str

from .installation import SECRET_KEY

# Whole parts that may be switched off (seed 000, feature flags); a team may override each.
ENABLE_MEMORY = read_bool("ENABLE_MEMORY", True)
ENABLE_COMPACTION_SHIELD = read_bool("ENABLE_COMPACTION_SHIELD", True)
ENABLE_CONTRADICTION_DETECTION = read_bool("ENABLE_CONTRADICTION_DETECTION", True)
ENABLE_MODEL_ROUTING = read_bool("ENABLE_MODEL_ROUTING", True)
# Whether what is said of a team ("the office closes on Fridays") becomes the team's own memory.
ENABLE_TEAM_FACTS = read_bool("ENABLE_TEAM_FACTS", True)
# Whether talk at rest is closed into episodes, and what is learned of a person told in insights.
ENABLE_EPISODES = read_bool("ENABLE_EPISODES", True)
ENABLE_INSIGHTS = read_bool("ENABLE_INSIGHTS", True)

MAX_CONTENT_CHARS = 32_000
MAX_ITEMS_PER_REQUEST = 500
# Messages between two extractions, for agents created when first named; each has its own.
SUMMARIZE_INTERVAL = read_int("SUMMARIZE_INTERVAL", 20, minimum=1)
# A conversation without a new message for so long is at rest: what waits in it is extracted.
CONVERSATION_REST_MINUTES = read_float("CONVERSATION_REST_MINUTES", 10.0, minimum=0.0)
# After so many hours without a message a sitting of talk is over and becomes an episode; a team may
# have hours of its own.
EPISODE_REST_HOURS = read_int("EPISODE_REST_HOURS", 6, minimum=1)
# What talk may write by itself (seed 004 §13); 0 lifts a cap. Compaction and imports have none.
MAX_MEMORIES_PER_TURN = read_int("MAX_MEMORIES_PER_TURN", 3)
MAX_MEMORIES_PER_USER_DAY = read_int("MAX_MEMORIES_PER_USER_DAY", 2000)
JOB_MAX_ATTEMPTS = read_int("JOB_MAX_ATTEMPTS", 5, minimum=1)
# The pause after a failed attempt doubles from two seconds up to this.
JOB_PAUSE_SECONDS = read_float("JOB_PAUSE_SECONDS", 150.0, minimum=0.0)
# A job reads and writes so many messages at a time.
EXTRACTION_WINDOW_MESSAGES = read_int("EXTRACTION_WINDOW_MESSAGES", 50, minimum=1)
# A window ends before the message with which its texts were longer than this; one is always read.
EXTRACTION_WINDOW_CHARACTERS = read_int("EXTRACTION_WINDOW_CHARACTERS", 60_000, minimum=1)
# How long a worker may read and judge a window.
EXTRACTION_WINDOW_SECONDS = read_float("EXTRACTION_WINDOW_SECONDS", 300.0, minimum=1.0)
# After so long a worker begins no further window of a job and takes the next job.
JOB_SLICE_SECONDS = read_float("JOB_SLICE_SECONDS", 10.0, minimum=0.0)
# A request that extracts or compacts answers after so long; what is left goes on behind it.
EXTRACT_WAIT_SECONDS = read_float("EXTRACT_WAIT_SECONDS", 120.0, minimum=0.0)
COMPACT_WAIT_SECONDS = read_float("COMPACT_WAIT_SECONDS", 20.0, minimum=0.0)
DUPLICATE_SIMILARITY = read_float("DUPLICATE_SIMILARITY", 0.95)
# How long Redis keeps an answer for who asks the same again; any change of the team's memories ends
# it at once, the time bounds how far the recency of its memories may drift. 0 keeps none.
HOT_ANSWER_SECONDS = read_int("HOT_ANSWER_SECONDS", 300)
# Owners with more memories are searched by the approximate index where that is quicker, others
# exactly; teams get one from so many memories on. A step in it costs as much as so many comparisons
# of vectors. What a scan keeps at a time, and how many vectors it looks at, at most.
EXACT_SEARCH_LIMIT = read_int("EXACT_SEARCH_LIMIT", 5_000, minimum=1)
GRAPH_STEP_COST = read_int("GRAPH_STEP_COST", 30)
GRAPH_EF_SEARCH = min(1_000, read_int("GRAPH_EF_SEARCH", 120, minimum=1))  # pgvector's most
GRAPH_MAX_SCAN = read_int("GRAPH_MAX_SCAN", 40_000, minimum=1)
# A filter that leaves no more memories than this is applied before the search, else after it.
FILTERED_FIRST = read_int("FILTERED_FIRST", 20_000, minimum=1)
# Up to this many neighbours of a new memory are judged, and this many become related to it.
JUDGED_NEIGHBOURS = read_int("JUDGED_NEIGHBOURS", 5, minimum=1)
LINKED_NEIGHBOURS = read_int("LINKED_NEIGHBOURS", 3)
LINK_SIMILARITY = read_float("LINK_SIMILARITY", 0.45)

# How long the answer to an Idempotency-Key is repeated, and after how long an unfinished request
# counts as lost.
IDEMPOTENCY_HOURS = read_int("IDEMPOTENCY_HOURS", 24, minimum=1)
IDEMPOTENCY_LEASE_SECONDS = read_int("IDEMPOTENCY_LEASE_SECONDS", 300, minimum=1)

# Days that operational events are kept, and how many at most wait in Redis to be stored.
EVENT_DAYS = read_int("EVENT_DAYS", 90, minimum=1)
EVENT_BUFFER = read_int("EVENT_BUFFER", 100_000, minimum=1)

# Days that routing decisions are kept; 0 keeps them for ever.
DECISION_DAYS = read_int("DECISION_DAYS", 90)

# A thread's saved state: bytes of its JSON, and how many versions are kept, the last one included.
CHECKPOINT_MAX_BYTES = read_int("CHECKPOINT_MAX_BYTES", 1024 * 1024, minimum=1024)
CHECKPOINT_VERSIONS = read_int("CHECKPOINT_VERSIONS", 10, minimum=1)

# Keys of the log's seals: the first one seals, all of them verify. They are kept outside the
# database, so that the owner of its tables cannot reseal a changed log.
SEAL_KEYS = list(
    dict.fromkeys([read_str("SEAL_KEY", SECRET_KEY), *read_list("SEAL_KEYS_PREVIOUS"), SECRET_KEY])
)

# A task's items lie in Redis for so long after the last one, at most for TASK_MAX_TTL_SECONDS if a
# task asks for it; how many a team has open, how many items and bytes one holds; how long it is
# known that a task ended.
TASK_TTL_SECONDS = read_int("TASK_TTL_SECONDS", 24 * 3600, minimum=1)
TASK_MAX_TTL_SECONDS = read_int("TASK_MAX_TTL_SECONDS", 7 * 24 * 3600, minimum=1)
TASK_MAX_OPEN = read_int("TASK_MAX_OPEN", 1_000, minimum=1)
TASK_MAX_ITEMS = read_int("TASK_MAX_ITEMS", 500, minimum=1)
TASK_MAX_BYTES = read_int("TASK_MAX_BYTES", 1024 * 1024, minimum=1024)
TASK_FINISHED_SECONDS = read_int("TASK_FINISHED_SECONDS", 24 * 3600, minimum=1)

# Whether webhooks may lead to addresses of the own network, and without encryption: for receivers
# beside the server, where everybody who may set webhooks up is trusted with that network.
WEBHOOKS_TO_PRIVATE_ADDRESSES = read_bool("WEBHOOKS_TO_PRIVATE_ADDRESSES", False)
# How long a receiver may take, in all.
WEBHOOK_TIMEOUT_SECONDS = read_float("WEBHOOK_TIMEOUT_SECONDS", 10.0, minimum=0.1)
# How long deliveries that ended are kept; a budget is announced once a month as long as they are.
WEBHOOK_DAYS = read_int("WEBHOOK_DAYS", 35, minimum=32)
