"""A typed client of Palimpsest, the memory server for teams of AI agents."""

from palimpsest_client.client import AsyncPalimpsest as AsyncPalimpsest
from palimpsest_client.client import Health as Health
from palimpsest_client.client import Palimpsest as Palimpsest
from palimpsest_client.errors import BadRequest as BadRequest
from palimpsest_client.errors import BudgetExceeded as BudgetExceeded
from palimpsest_client.errors import ChangedSince as ChangedSince
from palimpsest_client.errors import Conflict as Conflict
from palimpsest_client.errors import ConnectionFailed as ConnectionFailed
from palimpsest_client.errors import Forbidden as Forbidden
from palimpsest_client.errors import InvalidName as InvalidName
from palimpsest_client.errors import NotFound as NotFound
from palimpsest_client.errors import PalimpsestError as PalimpsestError
from palimpsest_client.errors import Refused as Refused
from palimpsest_client.errors import ServerError as ServerError
from palimpsest_client.errors import StreamCut as StreamCut
from palimpsest_client.errors import TooManyRequests as TooManyRequests
from palimpsest_client.errors import Unauthorized as Unauthorized
from palimpsest_client.errors import UnexpectedAnswer as UnexpectedAnswer
