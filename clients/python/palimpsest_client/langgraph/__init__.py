"""LangGraph's checkpointer and store over Palimpsest; install `palimpsest-client[langgraph]`."""

from palimpsest_client.langgraph.saver import PalimpsestSaver as PalimpsestSaver
from palimpsest_client.langgraph.store import PalimpsestStore as PalimpsestStore
