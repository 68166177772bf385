"""A value that is a secret by its name or position is masked, whatever it looks like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.secrets import MASK, mask_secrets

# A text and the piece of it that must be gone. Every value here is made up.
SECRETS = [
    (said.replace("⏎", "\n"), secret)
    for said, _, secret in (
        line.rpartition(" ~ ")
        for line in r"""
aws_secret_access_key = wJalr9 ~ wJalr9
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY ~ wJalr
export DB_PASSWORD=hunter22 ~ hunter22
export DB_PASSWORD='hunter22 with space' ~ hunter22
POSTGRES_PASSWORD: s3cr3tpw ~ s3cr3tpw
MYSQL_ROOT_PASSWORD=toor ~ toor
GITHUB_TOKEN=abcd1234efgh ~ abcd1234efgh
STRIPE_API_KEY=abc ~ abc
OPENAI_API_KEY: 'abcdef' ~ abcdef
"db_password": "hunter22" ~ hunter22
{'clientSecret': 'xyz-123-abc'} ~ xyz-123-abc
clientSecret=xyz123abc ~ xyz123abc
dbPassword: hunter22 ~ hunter22
django SECRET_KEY = 'ab#cd$ef' ~ ab#cd$ef
password's hunter22 ~ hunter22
The wifi password's Pl4typus ~ Pl4typus
my password’s hunter22 btw ~ hunter22
log in with password hunter22 ~ hunter22
user ada with password hunter22 ~ hunter22
with the password hunter22. ~ hunter22
use password: hunter22 ~ hunter22
my pw is hunter22 ~ hunter22
pw: hunter22 ~ hunter22
the pwd for the NAS is hunter22 ~ hunter22
pass: hunter22 ~ hunter22
passcode 482913 ~ 482913
passcode for the side door 5519# ~ 5519
iphone passcode: 224466 ~ 224466
my tablet unlocks with 135790 ~ 135790
the alarm code is 2580 now ~ 2580
I set the alarm code to 2580 ~ 2580
the combination for the safe: 31-7-22 ~ 31-7-22
padlock combo 905 ~ 905
the code to our lockbox is *0419 ~ 0419
PIN for the card is 90 12 ~ 90 12
PUK: 12345678 ~ 12345678
I changed my PIN from 1177 to 2288 ~ 2288
the PIN isn't 1177, it's 2288 ~ 2288
my password used to be bluebird7 ~ bluebird7
my password was bluebird7 and the new one is redwing9 ~ redwing9
the admin password was changed to Winter-Is-Here ~ Winter-Is
the password? It's bluebird7 ~ bluebird7
the router password (guest) is admin1234 ~ admin1234
wallet words: tiger umbrella zebra apple bottle candle ~ umbrella
vault passphrase — seven green llamas dance ~ llamas
the licence key is XJ4F-99KL-PP01-QWER ~ 99KL
my social is 078-05-1120 ~ 078-05
Authorization: Bearer abc123def456 ~ abc123def456
curl -H 'Authorization: Bearer abc123' https://api.x.com ~ abc123
authorization: basic YWRtaW46cGFzcw== ~ YWRtaW46cGFzcw
Authorization: token abc123def ~ abc123def
X-Api-Key: abc123def ~ abc123def
x-auth-token: 9f8e7d ~ 9f8e7d
Cookie: session=abcdef123456 ~ abcdef123456
curl -u admin:hunter2 https://api.example.com ~ hunter2
curl --user admin:hunter2 https://x.org ~ hunter2
wget --password=hunter2 https://x.org ~ hunter2
mysql -u root -phunter2 shop ~ hunter2
mysql -uroot -p'hunter2' shop ~ hunter2
sshpass -p hunter2 ssh ada@host ~ hunter2
redis-cli -a hunter2 ping ~ hunter2
docker login -u ada -p hunter2 ~ hunter2
PGPASSWORD=hunter2 psql -h db ~ hunter2
https://ada:hunter2@git.example.com/x.git ~ hunter2
login: bob@acme.com / Passw0rd!23 ~ Passw0rd!23
Login bob@acme.com, Passw0rd!23 ~ Passw0rd!23
the admin login is admin/hunter22 ~ hunter22
root login is root/toor123 ~ toor123
my credentials are bob / Passw0rd ~ Passw0rd
credentials: bob:Passw0rd1 ~ Passw0rd1
login is admin and password is hunter22 ~ hunter22
username admin, password hunter22 ~ hunter22
username: admin password: hunter22 ~ hunter22
user/pass is ada/hunter22 ~ hunter22
user: ada pass: hunter22 ~ hunter22
backup codes: 1234-5678, 8765-4321, 1111-2222 ~ 8765-4321
my recovery codes are 83jd-92kd 2k3d-99s2 ~ 2k3d-99s2
the 2FA backup code is 39201938 ~ 39201938
recovery key: 123456-654321-111111 ~ 654321
recovery codes:⏎1. 8f3k-2k3d⏎2. 99ks-2l3d ~ 99ks
seed phrase: legal winner thank year wave sausage worth useful ~ sausage
my wallet's seed phrase is legal winner thank year wave sausage worth useful ~ useful
the recovery phrase is abandon ability able about above absent absorb abstract absurd ~ absurd
mnemonic = abandon ability able about above absent absorb abstract absurd ~ absurd
https://hooks.slack.com/services/T00000000/B00000000/XXXXabcdXXXX ~ XXXXabcdXXXX
https://discord.com/api/webhooks/123456789/abcDEF-ghi_jkl ~ abcDEF
https://acme.webhook.office.com/webhookb2/abc-def@ghi/IncomingWebhook/xyz123/abc ~ xyz123
https://api.telegram.org/bot123456:ABC-DEF1234ghIkl/sendMessage ~ ABC-DEF1234ghIkl
https://x.example.com/cb?token=abc123def&x=1 ~ abc123def
https://x.example.com/cb?api_key=abc123 ~ abc123
https://maps.example.com/?key=AbCd1234efGH5678 ~ AbCd1234efGH5678
https://s3.x.com/f?X-Amz-Signature=abcdef0123 ~ abcdef0123
card 4111 1111 1111 1111 exp 12/27 cvv 123 ~ 123
cvv 123 ~ 123
CVV: 123 ~ 123
CVC is 987 ~ 987
security code 9876 on the card 4111 1111 1111 1111 ~ 9876
my PIN is 4821 ~ 4821
pin: 4821 ~ 4821
PIN code 4821 ~ 4821
the card's pin's 4821 ~ 4821
IBAN DE89370400440532013000 ~ DE8937
GB82 WEST 1234 5698 7654 32 ~ WEST
ssn 078-05-1120 ~ 078-05-1120
my social security number is 078-05-1120 ~ 078-05-1120
the password I use is hunter22 ~ hunter22
password for the router: hunter22 ~ hunter22
Our wifi password, by the way, is Pl4typus ~ Pl4typus
wifi: HomeNet / pass Pl4typus ~ Pl4typus
set the password to hunter22 ~ hunter22
changed my password to hunter22 ~ hunter22
the new password is hunter22 ~ hunter22
password hunter22 ~ hunter22
private key 0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318 ~ 4c0883
JWT_SECRET=abc ~ abc
webhook secret is abc123def ~ abc123def
the signing secret: 8f742231b10e ~ 8f742231b10e
token is abc.def.ghi ~ abc.def.ghi
access_token=ya29abc ~ ya29abc
refresh_token: 1//0gabc ~ 0gabc
slack token xoxb-123456789012-abcdefghijkl ~ abcdefghijkl
glpat-abcdefghij1234567890 ~ abcdefghij
github_pat_11ABCDEFG0abcdefghijklmnop ~ ABCDEFG0abc
sk-ant-api03-abcdefghijklmnop ~ abcdefghijklmnop
sk_live_abcdefghijklmnop1234 ~ abcdefghij
AccountKey=abc123==;EndpointSuffix=core.windows.net ~ abc123==
Server=db;User Id=sa;Password=Hunter22; ~ Hunter22
Server=db;Uid=sa;Pwd=Hunter22; ~ Hunter22
jdbc:mysql://db/shop?user=root&password=hunter22 ~ hunter22
ssh key passphrase: correct horse battery ~ horse
passphrase is "correct horse battery staple" ~ staple
2FA secret: JBSWY3DPEHPK3PXP ~ JBSWY3DPEHPK3PXP
my netflix password is Sunshine ~ Sunshine
the netflix pw's sunshine99 ~ sunshine99
Password for Bob's laptop is swordfish. ~ swordfish
root password on the pi is raspberry ~ raspberry
gmail: ada@gmail.com pw Tr0ub4dor ~ Tr0ub4dor
ada@gmail.com / Tr0ub4dor&3 ~ Tr0ub4dor
vpn login ada:Tr0ub4dor ~ Tr0ub4dor
ftp user web01 pass Gh7!kk ~ Gh7!kk
user=web01&pass=Gh7kk1 ~ Gh7kk1
the guest wifi is HomeNet with password SunnyDay7 ~ SunnyDay7
wifi key: SunnyDay7 ~ SunnyDay7
WPA2 key is 8hsk29dkw0 ~ 8hsk29dkw0
API_TOKEN: 'zzz' ~ zzz
TWILIO_AUTH_TOKEN=3f3f3f ~ 3f3f3f
export AWS_SESSION_TOKEN=FwoGZXIv ~ FwoGZXIv
set STRIPE_SECRET=whatever1 ~ whatever1
spring.datasource.password=hunter2 ~ hunter2
password=hunter2 ~ hunter2
"password": "p w d" ~ p w d
<password>hunter2</password> ~ hunter2
--set auth.password=hunter2 ~ hunter2
requirepass hunter2secret ~ hunter2secret
IDENTIFIED BY 'hunter2' ~ hunter2
CREATE USER ada WITH PASSWORD 'hunter2'; ~ hunter2
http -a ada:hunter2 example.com ~ hunter2
az login -u ada -p Hunter2 ~ Hunter2
psql "postgresql://ada:hunter2@db/x" ~ hunter2
mongodb+srv://ada:hunter2@cluster0.x.mongodb.net ~ hunter2
machine example.com login ada password hunter2 ~ hunter2
_authToken=npm_abc123abc123abc123 ~ abc123abc
//registry.npmjs.org/:_authToken=abcdef-12 ~ abcdef-12
Bearer eyJhbGciOi.eyJzdWIi.abc ~ eyJzdWIi
auth header is Bearer abcd1234efgh ~ abcd1234efgh
my 2fa backup codes are 123456 and 654321 ~ 654321
here are my recovery codes: abcd-efgh, ijkl-mnop ~ ijkl-mnop
Seed words: ripple scissors kick mammal hire column oak ~ scissors
my 12 word seed phrase is: ripple scissors kick mammal hire column oak ~ mammal
my metamask recovery phrase - ripple scissors kick mammal hire column oak ~ mammal
PIN for the safe is 2580 ~ 2580
the safe's PIN: 2580 ~ 2580
ATM pin 2580 ~ 2580
sim pin=2580 ~ 2580
cvc2 321 ~ 321
the CVV on the back is 321 ~ 321
card number 5500 0000 0000 0004, 12/27, 321 ~ 5500
the password was "hunter2" until May ~ hunter2
old password hunter2, new password hunter3 ~ hunter3
password → hunter2 ~ hunter2
pwd=hunter2; ~ hunter2
AZURE_STORAGE_KEY=abc12== ~ abc12
DefaultEndpointsProtocol=https;AccountName=a;AccountKey=Zm9v12==; ~ Zm9v12
the token for CI is ab12cd34ef ~ ab12cd34ef
client id 123, client secret s3cr3t ~ s3cr3t
encryption key 9f8a7b6c5d ~ 9f8a7b6c5d
https://discordapp.com/api/webhooks/1/abc ~ abc
our webhook is https://hooks.slack.com/services/T1/B2/c3 ~ c3
sftp://ada:pa55@files/ ~ pa55
password is still Winter2025! ~ Winter2025
the new password will be Winter2025! ~ Winter2025
let's use Winter2025! as the password ~ Winter2025
Winter2025! is the password ~ Winter2025
my password, Winter2025!, still works ~ Winter2025
""".strip().splitlines()
    )
]


@pytest.mark.parametrize(("said", "secret"), SECRETS)
def test_what_is_called_a_secret_is_masked(said: str, secret: str) -> None:
    masked = mask_secrets(text=said)
    assert secret not in masked
    assert MASK in masked


@pytest.mark.parametrize(("said", "secret"), SECRETS)
def test_what_is_masked_once_stays_as_it_is(said: str, secret: str) -> None:
    masked = mask_secrets(text=said)
    assert mask_secrets(text=masked) == masked


@given(
    name=st.sampled_from(["DB_PASSWORD", "aws_secret_access_key", "stripeApiKey", "app.token"]),
    join=st.sampled_from(["=", ": ", " = ", '": "', " => "]),
    value=st.text(alphabet="abcdefghXYZ0123456789-_/+", min_size=12, max_size=60),
)
def test_any_value_of_a_secret_field_is_masked(name: str, join: str, value: str) -> None:
    value = f"q7{value}w"
    masked = mask_secrets(text=f"The setting {name}{join}{value} is new.")
    assert value not in masked
    assert masked.endswith("is new.")
