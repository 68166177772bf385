"""`manage.py second_factor`: an authenticator app for a staff login."""

from __future__ import annotations

from base64 import b32encode
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django_otp.plugins.otp_totp.models import TOTPDevice

from teams.models import StaffUser


class Command(BaseCommand):
    """Set up the code that a login must type beside its password, or take it away."""

    help = (
        "Print a secret for an authenticator app and ask for the code that it shows; from then on"
        " the login needs a code to sign in to the admin. It replaces an earlier secret."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", help="of a staff login")
        parser.add_argument("--remove", action="store_true", help="ask for no code any more")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        user = StaffUser.objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no login '{options['username']}'.")
        if options["remove"]:
            TOTPDevice.objects.filter(user=user).delete()
            self.stdout.write(f"{user} signs in without a code.")
            return
        device = TOTPDevice(user=user, name="authenticator app")
        self.stdout.write(f"Secret: {b32encode(device.bin_key).decode()}")
        self.stdout.write(f"As an address: {device.config_url}")
        try:
            typed = input("Type the code that the app shows now: ")
        except EOFError:
            raise CommandError("Nothing was changed: nobody types here.") from None
        with transaction.atomic():
            TOTPDevice.objects.filter(user=user).delete()
            device.save()
            # Not valid a second time, as at each sign-in.
            if not device.verify_token(typed.strip()):
                raise CommandError("Nothing was changed: this is not the code of the secret.")
        self.stdout.write(f"{user} signs in with a code.")
