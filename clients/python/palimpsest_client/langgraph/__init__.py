"""LangGraph's checkpointer and store over Palimpsest; needs the extra `langgraph`."""

from palimpsest_client.langgraph.saver import PalimpsestSaver as PalimpsestSaver
from palimpsest_client.langgraph.store import PalimpsestStore as PalimpsestStore
