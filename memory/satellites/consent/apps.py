"""Django app: Consent."""

from memory import satellite


class ConsentConfig(satellite.Satellite):
    """Asks people before their profile or a fact of the team changes."""

    name = "memory.satellites.consent"
    label = "consent"
    verbose_name = "Consent"
    routes = "memory.satellites.consent.urls"
    periodic = {
        "memory.satellites.consent.tasks.expire_consent_requests": 600.0,
        "memory.satellites.consent.tasks.propose_team_facts": 3600.0,
    }
