"""Order numbers, commits, ports and talk about passwords are no secrets and stay as they are."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable
from random import Random
from uuid import UUID

import pytest

from memory.domain.secrets import mask_secrets

# Sentences about secrets, numbers and names that are none, one a line.
ORDINARY = """
order 1234567890 arrived
our order number is AB-4711-9938
commit 9f8e7d6 fixes it
the fix is in commit 3a5f9c1b2
port 5432 is open
the database listens on port 5433, not 5432
the token expired on Monday
the password expired
my password manager is Bitwarden
I use 1Password for passwords
The password policy requires 12 characters
password reset emails are slow
Reset your password every 90 days
the password is stored in Vault
the password is too short
we hash passwords with argon2
passwords are kept in the vault
the password field is required
we pin dependencies weekly
pin the message to the channel
Please pin this
the pin is mapped to GPIO 17
secret santa is on December 20
the secret is good preparation
The secret to good bread is time
the secret is patience
token limits are 8,000 per request
the token budget is 4000
each token is about four characters
the key is to stay calm
the key to the shed is under the mat
key results are due Friday
API keys rotate every 90 days
the API key is missing
the API key for staging expired
the login page is slow
the login is broken
login fails with a 500
the login is at https://app.example.com/login
login with SSO only
log in / sign up is confusing
backup runs at 02:00
the backup codes are in the safe
backup code path is untested
recovery takes 10 minutes
my recovery phrase is in the safe
the seed phrase should never be shared
we plant seeds in March
our webhook posts to https://hooks.example.com/deploys
the webhook URL is in the settings
https://docs.example.com:8443/guide?page=2&key=intro
https://example.com/items?id=1234567
see https://github.com/acme/repo/commit/9f8e7d6
the bearer of bad news
Bearer tokens are checked by the gateway
basic auth is disabled
the authorization header is missing
use -u for unbuffered output
python -u main.py
mkdir -p /srv/data
ssh -p 2222 host
docker run -p 8080:80 nginx
docker run -u 1000:1000 nginx
rsync -a src dst
my pass is valid until June
I passed the exam
the boarding pass is in my mail
pass the salt
pass 2 failed
code 4711 is the article
the zip code is 90210
the country code is +49
error code: 500
my phone is +49 170 1234567
ISBN 978-3-16-148410-0
version 1.2.3-rc4
the meeting is at 14:30
room 4.12
my flight is LH1234 on June 5
the build id is 20260512.3
user id 48213
user/admin roles
the ratio is 3/4
the security code review is on Friday
the access token lifetime is 15 minutes
access keys are rotated monthly
passphrase length matters
The CVV check is done by Stripe
login credentials were shared with Bob
credentials are in the vault
The password for the router is on the fridge
password is the same as before
the password was changed by Ada yesterday
password protected zip
a password with numbers is better
Bob forgot the password again
I was told the password by Tom
the token ring network
secretKey is a required field
the DB_PASSWORD variable is set in CI
set DB_PASSWORD in the environment
client_secret must be provided
the pwd command prints the directory
pw reset takes a day
my pin number is a secret
Tom's secret is that he sings
the secret ingredient is butter
the password hint is my dog
signature is due on Monday
the token price is $3.20
token: the unit a model reads
Pinned: the rent is 900 euros
her secret: she sings
the passcode changes monthly
my PIN is four digits long
the pin is loose
recovery codes were printed by Ada
webhook secret rotation is monthly
the session cookie is cleared daily
the session key takeaways are on the wiki
Key: blue means done
the answer key is on page 12
the key = value syntax
keyboard: Dvorak
primary_key = id
foreign key: user_id
sort_key=name
tokenizer=cl100k
max_tokens=4096
token_count: 128
password_min_length = 12
password_reset_url: /reset
secret_santa: Bob
api_key_header = X-Api-Key
skateboardingcompetitions are fun
pk_customer_order_items is the index
the sha256 is 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12
2fd4e1c67a2d28fced849ee1bb76e7391b93eb12 broke it
md5 d41d8cd98f00b204e9800998ecf8427e
image sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
the login for the portal is under Settings
login: see the wiki
Username is ada
credentials: ask Tom
the user/pass split is 50/50
login at 9am, logout at 17:30
login page v2.3 ships June 5
the passport number is due
pass rate is 95%
my pass rate is 95%
token usage was 8000 yesterday
password length is 12
the password must have 12 characters
password rules: 12 characters, 1 digit
password strength: weak
Password rotation: every 90 days
password manager: Bitwarden
password managers like 1Password and KeePass2 help
Bob's password manager is KeePass2
we use OAuth2 tokens
token type: JWT
the access token is a JWT signed with RS256
API keys: stored in Vault
API key owner: Ada
the secret sauce is garlic
the secret to success is hard work
secret meeting on June 5 at 14:00
open secret: she likes Tom
the passphrase is in 1Password
backup codes: in the drawer
recovery code path covered by test 12
the emergency code is green
verification codes arrive by SMS
2FA codes expire after 30 seconds
recovery keys are held by two people
PIN entry on the M2 terminal
pinned to 4821 in the lockfile
the PIN pad is broken
pin numpy 1.26
pins 12 and 13 are grounded
security code is checked at the gate
our key accounts are Acme and Globex
account key figures for 2025
the private key is on the YubiKey 5
the private key must stay on the server
access key to the garage is with Tom
the access key is blue
the key code is 12
set the token limit to 4000
set password complexity to high
change the password to something stronger
changed my password to a stronger one
I changed the password on Monday
the password for the demo is on the wiki
the password is 12 characters long
our password is the dog's name
I forgot my password
I lost my pass on the bus
a bus pass is 49 euros
a day pass costs 12,50
the ski pass is 250 euros for 6 days
press pass: pick up on May 30
pass: yes
Pass/fail is decided in June
mvn -u clean
tar -u -f archive.tar files
ls -a /srv
grep -a foo
redis-cli -h cache -p 6379
mysql -u root -p shop
mysql -P 3307 -u app shop
docker login -u ada registry.example.com
docker run -p 8080:80 -p 9090:90 app
curl -u ada https://example.com
cookie: the dog
Cookies: oatmeal and raisin
Bearer shares are rare
authorization: required by Ada
user: ada
user Ada, room 5
my login name is ada_l
invoice INV-2026-0042
tracking number 1Z999AA10123456784
order #A1B2C3D4
coupon code SAVE20
promo code: SPRING25
discount code is SPRING25
zip code 90210
area code 415
code review on June 5
dress code: black tie
exit code 137
status code: 404
QR code 2
the door code is 4711
my locker number is 4711
my lock has 4 digits
the safe weighs 2000 kg
PIN is the brand of the pen
pin 4 on the chip is ground
the PIN pad costs 1200 euros
set the alarm to 0630
the unlock fee is 2500 euros
the lock was changed on 2025-05-01
the combination of 2 drugs is risky
the password was set to expire in 2027
the password was changed to a longer one
my password isn't secure
the password went from 8 to 12 characters
the secret isn't 42, it's love
we planted seed words
UUID 123e4567-e89b-12d3-a456-426614174000
MAC 00:1B:44:11:3A:B7
IP 192.168.1.15
phone 0171 2345678
my passport expires in 2031
license plate AB-CD 1234
https://example.com/a?sort_key=name&page_token=2
https://youtu.be/dQw4w9WgXcQ?si=abc
https://example.com/reset-password
the webhook fires on push
hooks.slack.com is allowed by the firewall
we keep secrets in Vault, tokens in Redis
tokens: 4096
temperature=0.7 max_tokens=256
secret_name: prod-db
token_type=bearer
password_hash column is dropped
forgot_password: true
key: value
hot key: ctrl+k
the shortcut key is F5
keynote is on June 5
seed phrase is in the safe at the bank
seed phrases have 12 words
mnemonic for the colours: Richard of York
the phrase is a joke
""".strip().splitlines()


@pytest.mark.parametrize("said", ORDINARY)
def test_what_only_resembles_a_secret_is_left_alone(said: str) -> None:
    assert mask_secrets(text=said) == said


# -- ids and digests -------------------------------------------------------------------------


def _ids() -> dict[str, Callable[[bytes], str]]:
    """Ways to write 64 random bytes as an id or a digest."""
    digests = {
        name: lambda given, name=name: hashlib.new(name, given).hexdigest()
        for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
    }
    return {
        **digests,
        "uuid": lambda given: str(UUID(bytes=given[:16], version=4)),
        "uuid as hex": lambda given: UUID(bytes=given[:16], version=4).hex,
        "capitals": lambda given: hashlib.sha256(given).hexdigest().upper(),
        "short commit": lambda given: hashlib.sha1(given).hexdigest()[:10],
        "trace": lambda given: f"00-{given[:16].hex()}-{given[16:24].hex()}-01",
        "integrity": lambda given: "sha384-" + b64encode(given[:48]).decode(),
        "fingerprint": lambda given: "SHA256:" + b64encode(given[:32]).decode().rstrip("="),
        "chain": lambda given: "0x" + given[:32].hex(),
    }


SENTENCES = [
    "{}",
    "{} broke the build.",
    "The run {} failed on Friday.",
    "Order {} was shipped to Oslo.",
    "See https://git.example.org/acme/app/blob/{}/README.md for it.",
    "The token has the digest {}.",
    "user_id={}",
]


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("kind", _ids())
def test_ids_and_digests_stay(kind: str, sentence: str) -> None:
    write, random = _ids()[kind], Random(f"{kind} {sentence}")
    texts = [sentence.format(write(random.randbytes(64))) for _ in range(300)]

    assert [mask_secrets(text=text) for text in texts] == texts


@pytest.mark.parametrize(
    "sentence",
    [
        "The API key is {}.",
        "The key of the mail service: {}",
        'mailKey = "{}"',
        "MAIL_KEY {}",
        "Use the signing secret {} there.",
        "The deploy token for staging ({})",
        "{} is our API key.",
        '"{}" was the secret of the webhook.',
        "key-{}",
        "The id of the token is 7 and the token {}.",
    ],
)
@pytest.mark.parametrize("length", [32, 40, 64])
def test_the_same_figures_are_a_secret_where_they_are_called_one(
    sentence: str, length: int
) -> None:
    random = Random(f"{length} {sentence}")
    for _ in range(100):
        key = random.randbytes(length // 2).hex()

        assert key not in mask_secrets(text=sentence.format(key))


def test_a_card_number_within_an_id_is_none() -> None:
    assert "4111111111111111" not in mask_secrets(text="Visa4111111111111111")
    assert mask_secrets(text="order 7f4111111111111111ab3c") == "order 7f4111111111111111ab3c"
