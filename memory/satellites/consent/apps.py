"""Django app: Consent."""

from memory import satellite


class ConsentConfig(satellite.Satellite):
    """Asks people before their profile or a fact of the team changes."""

    name = "memory.satellites.consent"
    label = "consent"
    verbose_name = "Consent"
    routes = "memory.satellites.consent.api"
    of_person = {"consent_request": ("ConsentRequest", "end_user_id")}
    periodic = {
        "memory.satellites.consent.tasks.expire_consent_requests": 600.0,
        "memory.satellites.consent.tasks.propose_team_facts": 3600.0,
    }

    def ready(self) -> None:
        """Joins the write path and extraction, and shows requests with their person."""
        super().ready()
        from memory.api.people import PERSON_PARTS, PersonPart
        from memory.satellites.consent.api import ConsentRequestSerializer
        from memory.satellites.consent.gate import Policy
        from memory.satellites.consent.proposals import waiting_for
        from memory.satellites.consent.talk import ask_for_team, consent, settle_in_talk
        from memory.writing import pipeline, rules
        from memory.writing.consent import install_policy

        install_policy(Policy())
        rules.ADDED_RULES.append(consent)
        pipeline.ON_WRITTEN.append(ask_for_team)
        pipeline.AFTER_WINDOW.append(settle_in_talk)
        shown = ConsentRequestSerializer(many=True)
        PERSON_PARTS["pending"] = PersonPart(shown=shown, load=waiting_for)
