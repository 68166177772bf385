"""Sentences put together from word lists, for benchmarks that need very many different ones."""

from __future__ import annotations

import random
from collections.abc import Sequence

_WORDS = {
    "first": (
        "Ada Bruno Chen Dalia Emre Farah Goran Hana Idris Jonas Keiko Lena Mateo Nadia Oskar Priya"
        " Quentin Rosa Samir Tilda Uma Viktor Wanda Xenia Yusuf Zoe"
    ),
    "last": (
        "Abara Berg Costa Dvorak Eriksen Fontaine Garcia Hoang Ivanov Jansen Kowalski Lindqvist"
        " Mori Novak Okafor Petrov Quispe Rossi Suzuki Tanaka Ueda Vargas Weber Xu Yilmaz Zhou"
    ),
    "city": (
        "Lisbon Oslo Kyoto Lagos Quito Porto Tallinn Hanoi Bergen Lima Dakar Riga Perth Leeds"
        " Turin Graz Nairobi Accra Malmo Sofia"
    ),
    "job": (
        "welder nurse beekeeper translator plumber geologist pianist baker surveyor florist"
        " cartographer dentist forester carpenter archivist electrician optician sculptor"
    ),
    "firm": (
        "Northwind Halcyon Brightwater Kestrel Marlowe Tessera Juniper Oakline Vireo Solstice"
        " Quarry Lantern Meridian Pinecrest Foxglove Harbour"
    ),
    "thing": (
        "bicycle accordion telescope sourdough kayak greenhouse typewriter terrarium loom drone"
        " motorbike aquarium violin pottery-wheel chessboard camera barometer hammock kiln sextant"
    ),
    "system": (
        "billing ingestion search authentication reporting scheduling inventory checkout telemetry"
        " payroll messaging provisioning archival routing caching deployment migration alerting"
    ),
    "tool": (
        "Postgres Kafka Redis Terraform Grafana Ansible RabbitMQ Nginx Elasticsearch Jenkins"
        " Prometheus Vault Consul Airflow Celery ClickHouse Docker Envoy"
    ),
    "food": (
        "walnuts shellfish coriander lentils mangoes buckwheat anchovies rhubarb tofu celery"
        " pistachios oysters polenta kimchi figs aubergine"
    ),
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "month": (
        "January February March April May June July August September October November December"
    ),
}
_SLOTS = {name: words.split() for name, words in _WORDS.items()}
_MEMORIES = (
    "{who} works as a {job} at {firm} in {city}.",
    "{who} bought a {thing} in {city} in {month}.",
    "{who} cannot eat {food} and asks for {food2} instead.",
    "The {system} service of {firm} writes to {tool}, which {who} runs.",
    "{who} decided in {month} that {system} moves from {tool} to {tool2}.",
    "Every {day} at {number}:00 {who} restarts the {system} workers by hand.",
    "{who} is allergic to {food}; the clinic in {city} wrote it down in {month}.",
    "Ticket {number}{number2}: {tool} lost messages of {system} until {who} raised its timeout.",
    "{who} teaches a {job} from {city} how to repair a {thing}.",
    "The lease of {who}'s flat in {city} ends on {number} {month}.",
    "{firm} pays {who} {number},{number2}00 for the {system} audit of {month}.",
    "{who} prefers the {thing} from {city} to the one that {firm} sells.",
    "Before a release of {system}, {who} checks {tool} for {number} minutes.",
    "{who} learned to cook {food} with {food2} from a {job} on a {day}.",
    "{who} and a {job} from {firm} meet in {city} each {day} about {system}.",
    "Port {number}{number2} of the {system} host belongs to {tool}, says {who}.",
)
_MESSAGES = (
    "I work as a {job} at {firm} now, and I live in {city}.",
    "Hm, let me think about that for a moment.",
    "We decided to move {system} from {tool} to {tool2} before {month}.",
    "I'm allergic to {food}, so please never suggest it again.",
    "Thanks, that helps a lot!",
    "My sister {who} is visiting from {city} on {day}, she is bringing her {thing}.",
    "How do I restart the {system} workers when {tool} hangs?",
    "Please remember that {who} owns {system}; ask before you touch {tool}.",
    "I always prefer short answers when we talk about {system}, and no tables.",
    "Yesterday {tool} lost {number} messages of {system} until {who} raised its timeout.",
)


class Texts:
    """Sentences put together from word lists; the same seed gives the same ones."""

    def __init__(self, seed: int, users: int = 0) -> None:
        self._random = random.Random(seed)
        self._users = users

    def of(self, patterns: Sequence[str]) -> str:
        """One sentence of a pattern chosen at random."""
        draw = self._random
        slots = {name: draw.choice(words) for name, words in _SLOTS.items()}
        return draw.choice(patterns).format(
            who=f"{slots['first']} {slots['last']}",
            tool2=draw.choice(_SLOTS["tool"]),
            food2=draw.choice(_SLOTS["food"]),
            number=draw.randint(1, 28),
            number2=draw.randint(10, 99),
            **slots,
        )

    def statement(self) -> str:
        """A fact as a memory says it."""
        return self.of(_MEMORIES)

    def remark(self) -> str:
        """A line of talk."""
        return self.of(_MESSAGES)

    def importance(self) -> int:
        """An importance of 3 to 9."""
        return self._random.randint(3, 9)

    def user(self) -> str | None:
        """One of the users, if there are any."""
        return f"user-{self._random.randrange(self._users)}" if self._users else None
