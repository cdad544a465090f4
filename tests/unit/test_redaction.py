"""Credentials are masked, prose and code about them survive (H10).

Examples are put together at run time, so that no file of the repository holds what looks like a credential.
"""

import json
import random
import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.redaction import MARK, RULES, find, mask, mask_json

HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
ALNUM = string.ascii_letters + string.digits


def key(length: int, alphabet: str = ALNUM, seed: int = 7) -> str:
    """Random characters, the same in every run, with a digit and (if the alphabet has them) both cases."""
    body = "".join(random.Random(seed).choices(alphabet, k=length - 3))
    letters = [c for c in alphabet if c.isalpha()]
    return letters[0] + next(c for c in alphabet if c.isdigit()) + letters[-1] + body


LOGIN = "YWRtaW46" + "aHVudGVyMg=="
JWT = ".".join(("eyJ" + key(33), "eyJ" + key(60), key(43)))
DASHES = "-" * 5
BODY = "\n".join(key(64, seed=n) for n in range(4))
PEM = f"{DASHES}BEGIN RSA PRIVATE KEY{DASHES}\n{BODY}\n{DASHES}END RSA PRIVATE KEY{DASHES}"
PASSWORD = "hunter2" + "Secret9"

# rule, what stands before, the credential, what stands after
EXAMPLES = [
    ("private-key", "the key:\n", PEM, "\nthanks"),
    ("private-key", "cut off:\n", PEM[:200], ""),
    ("private-key", '"private_key": "', PEM.replace("\n", "\\n"), '\\n"'),
    ("private-key", "", PEM.replace("RSA", "OPENSSH"), "\n"),
    ("age-secret-key", "", "AGE-SECRET" + "-KEY-1" + key(58, UPPER), "\n"),
    ("anthropic-key", "use ", "sk-ant-" + "api03-" + key(90), " please"),
    ("anthropic-key", "x=1\\n", "sk-ant-" + "api03-" + key(90), "\\ny=2"),
    ("openrouter-key", "use ", "sk-or-" + "v1-" + key(64, HEX), "."),
    ("openai-key", "OPENAI_API_KEY=", "sk-proj-" + key(60), "\n"),
    ("openai-key", "old: ", "sk-" + key(48), ","),
    ("recollect-token", "Bearer ", "recollect_" + key(43), " ok"),
    ("huggingface-token", "", "hf_" + key(34), " ok"),
    ("groq-key", "", "gsk_" + key(52), " ok"),
    ("xai-key", "", "xai-" + key(80), " ok"),
    ("perplexity-key", "", "pplx-" + key(48), " ok"),
    ("replicate-token", "", "r8_" + key(37), " ok"),
    ("github-token", "https://", "ghp_" + key(36), "@github.com/o/r"),
    ("github-token", "", "gho_" + key(36), " ok"),
    ("github-token", "", "ghu_" + key(36), " ok"),
    ("github-token", "", "ghs_" + key(36), " ok"),
    ("github-token", "", "ghr_" + key(36), " ok"),
    ("github-fine-grained-token", "", "github_pat_" + key(22) + "_" + key(59), " ok"),
    ("gitlab-token", "", "glpat-" + key(20), " ok"),
    ("npm-token", "//registry.npmjs" + ".org/:_authToken=", "npm_" + key(36), "\n"),
    ("pypi-token", "password = ", "pypi-" + "AgEI" + key(150), "\n"),
    ("atlassian-token", "", "ATATT3" + key(180) + "=" + key(8, HEX.upper()), " ok"),
    ("aws-access-key-id", "aws_access_key_id = ", "AKIA" + key(16, UPPER), "\n"),
    (
        "aws-access-key-id",
        "no digit in it: ",
        "AKIA" + key(20, UPPER).translate({ord(c): "" for c in "234567"})[:9] + "QWERTZU",
        " ok",
    ),
    ("aws-access-key-id", "", "ASIA" + key(16, UPPER), " ok"),
    ("aws-secret-key", "aws_secret_access_key = ", key(38) + "/+", "\n"),
    ("aws-secret-key", '"SecretAccessKey": "', key(38) + "+/", '",'),
    ("google-api-key", "?key=", "AIza" + key(35), "&q=1"),
    ("google-oauth-token", "", "ya29." + key(120), " ok"),
    ("azure-storage-key", "AccountName=x;AccountKey=", key(86) + "==", ";EndpointSuffix=y"),
    ("azure-storage-key", "SharedAccessKey=", key(43) + "=", "\n"),
    ("azure-sas-signature", "https://a.blob.core.windows.net/c?sv=2024&sig=", key(43) + "%3D", "&se=1"),
    ("digitalocean-token", "", "dop_v1_" + key(64, HEX), " ok"),
    ("cloudflare-token", "CLOUDFLARE_API_TOKEN=", key(40), "\n"),
    ("cloudflare-token", 'CF_API_KEY: "', key(37, HEX), '"'),
    ("vercel-token", "", "vcp_" + key(56), " ok"),
    ("supabase-token", "", "sbp_" + key(40, HEX), " ok"),
    ("databricks-token", "", "dapi" + key(32, HEX), " ok"),
    ("tailscale-key", "", "tskey-" + "auth-" + key(17) + "-" + key(32), " ok"),
    ("doppler-token", "", "dp.pt." + key(43), " ok"),
    ("vault-token", "", "hvs." + key(90), " ok"),
    ("stripe-key", "", "sk_live_" + key(24), " ok"),
    ("stripe-key", "", "rk_live_" + key(24), " ok"),
    ("stripe-webhook-secret", "", "whsec_" + key(32), " ok"),
    ("shopify-token", "", "shpat_" + key(32, HEX), " ok"),
    ("square-token", "", "sq0atp-" + key(22), " ok"),
    ("square-token", "", "EAAA" + key(60), " ok"),
    ("slack-token", "", "xoxb-" + "123456789012-" + key(24), " ok"),
    (
        "slack-webhook",
        "https://hooks.slack.com/services/",
        "T" + key(8) + "/B" + key(8) + "/" + key(24),
        " ok",
    ),
    ("discord-webhook", "https://discord.com/api/webhooks/123456789012345678/", key(68), " ok"),
    ("discord-token", "MTIz" + key(20) + ".", key(6) + "." + key(38), " ok"),
    ("telegram-token", "bot 123456789:", "AA" + key(33), " ok"),
    ("twilio-key", "", "SK" + key(32, HEX), " ok"),
    ("sendgrid-key", "", "SG." + key(22) + "." + key(43), " ok"),
    ("mailgun-key", "", "key-" + key(32, HEX), " ok"),
    ("linear-key", "", "lin_api_" + key(40), " ok"),
    ("notion-token", "", "ntn_" + key(46), " ok"),
    ("notion-token", "", "secret_" + key(43), " ok"),
    ("figma-token", "", "figd_" + key(40), " ok"),
    ("jwt", "cookie ", JWT, "; path"),
    ("jwt", "Authorization: Bearer ", JWT, "\n"),
    ("url-password", "postgresql://app:", "s3cr3t-pw", "@db.local:5432/app"),
    ("url-password", "redis://:", "correcthorse", "@cache"),
    ("curl-login", "curl -s -X POST -u admin:", "hunter2", " https://x.org"),
    ("curl-login", "curl --user 'admin:", "hunter2", "' https://x.org"),
    ("basic-login", "Authorization: Basic ", LOGIN, "\n"),
    ("basic-login", '"authorization": "basic ', LOGIN, '"'),
    ("bearer-token", "Authorization: Bearer ", key(40), "\n"),
    ("bearer-token", "-H 'authorization: bearer ", key(40), "'"),
    ("bearer-token", "Authorization: token ", key(40), "\n"),
    ("assignment", "PASSWORD=", PASSWORD, "\n"),
    ("assignment", 'api_key: "', key(24), '"'),
    ("assignment", '"client_secret": "', key(24), '",'),
    ("assignment", '{\\"password\\": \\"', PASSWORD, '\\"}'),
    ("assignment", "the password: ", PASSWORD, ". Keep it"),
    ("assignment", 'password: str = "', PASSWORD, '"'),
    ("assignment", 'os.environ["DB_PASSWORD"] = "', PASSWORD, '"'),
    ("assignment", "<password>", PASSWORD, "</password>"),
    ("assignment", "x-api-key: ", key(32), "\n"),
    ("assignment", "tool --password=", PASSWORD, " run"),
    ("assignment", "smtp_pass = '", "Tr0ub4dor&3", "'"),
    ("option", "tool --password ", PASSWORD, " run"),
    ("option", "tool --api-key '", key(24), "' run"),
]


@pytest.mark.parametrize(("rule", "before", "secret", "after"), EXAMPLES)
def test_a_credential_is_masked_and_what_surrounds_it_stays(rule: str, before: str, secret: str, after: str):
    text = before + secret + after
    assert mask(text) == f"{before}{MARK}{rule}]{after}"
    assert [text[found.start : found.end] for found in find(text)] == [secret]


def test_every_rule_has_an_example_and_a_name_of_its_own():
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert {rule for rule, *_ in EXAMPLES} == set(names)


@pytest.mark.parametrize("name", [rule.name for rule in RULES])
def test_a_mark_can_stand_in_any_quoted_text(name: str):
    assert all(c in string.ascii_lowercase + string.digits + "-" for c in name)


SURVIVORS = [
    # prose
    "the deploy key is in 1Password under X",
    "password: see the vault",
    "Password: required!",
    "my token: ask Anna2 for it",
    "Bearer token authentication, Basic authentication and Authorization: Bearer",
    "Authorization: Bearer YOUR_TOKEN_HERE, Authorization: Basic credentials",
    "A JWT begins with eyJ and AKIA begins an access key id; sk-ant-... is ours",
    "sk-learn, scikit-learn and sk-learn-contrib-examples-for-beginners",
    "task-list-item-checkbox-container risk-assessment-2024-final-version",
    "user:pass@ is how a URL carries a login; write to anna.b2@example.org",
    "the secret: patience. The key: value pairs. token: a word",
    "password = 'the usual one from 2019'",
    # references and stand-ins
    "const token = getToken()",
    "const token = await getAccessToken2(user)",
    "api_key = os.environ['OPENAI_API_KEY']",
    'api_key=os.getenv("KEY_2024")',
    "apiKey: process.env.OPENAI_API_KEY_2",
    "password=None password=null password: true token=undefined secret: string",
    "PASSWORD=${DB_PASSWORD_2} PASSWORD=$DB_PASSWORD2 PASSWORD=<your-password-1> PASSWORD={{ vault_pw1 }}",
    "API_KEY=your-key-here-123 API_KEY=xxxxxxxx1234 TOKEN=changeme123 SECRET=**********",
    "postgres://user:password@localhost/db postgres://user:${PW}@db postgres://$U:$PW@db redis://:<pw>@h",
    'curl -u "$USER:$PASS" https://x.org; docker run -u 1000:1000 image',
    "OPENAI_API_KEY=sk-... ANTHROPIC_API_KEY=sk-ant-xxxxxxxxxxxxxxxxxxxxxxxx",
    "tool --password $PASSWORD --token <token> --api-key your-api-key-1",
    "password=[masked:assignment] Authorization: Bearer [masked:jwt]",
    "aws_secret_access_key = YOUR_AWS_SECRET_ACCESS_KEY",
    # code
    "def login(user: str, password: str, token: str | None = None) -> Token:",
    "interface Login { password: string; token: Uint8Array; secret: Base64String }",
    "password = form.password2.data",
    "token = tokens[index2]; secret = derive(secret1, salt2)",
    "password: hashlib.sha256, token = user_token_v2",
    "max_tokens=4096, tokens: 12345678, pageToken: 2, primary_key=user2account9x, cache_key: a1b2c3d4e5",
    "if '-----BEGIN RSA " + "PRIVATE KEY-----' in text: raise ValueError('private key')",
    "-----BEGIN PUBLIC KEY-----\n" + BODY + "\n-----END PUBLIC KEY-----",
    "-----BEGIN " + "PRIVATE KEY-----\n...\n-----END " + "PRIVATE KEY-----",
    "private_key: ./certs/server-2048.pem",
    "<div class='sk-circle sk-fading-circle mask-image-none desk-layout-wide-two-columns-2'>",
    "npm_config_registry npm_lifecycle_event hf_hub_download sk_test_helper key-value-store-2024",
    # identifiers and digests
    "commit " + key(40, HEX),
    "id 123e4567-e89b-12d3-a456-426614174000",
    "sha256:" + key(64, HEX),
    "image@sha256:" + key(64, HEX),
    "cache-key-" + key(32, HEX),
    '"integrity": "sha512-' + key(86) + '=="',
    "data:image/png;base64,iVBORw0KGgo" + key(400),
    "msg_01" + key(22) + " toolu_01" + key(22) + " req_01" + key(22),
    "/usr/lib/python3.11/site-packages/tokenizers-0.15.2/token.py:12",
    # addresses
    "git@github.com:org/repo.git ssh://git@github.com:22/org/repo.git",
    "https://example.org:8080/a/b@2x.png?x=1 http://localhost:3000/@scope/name",
    "see https://docs.example.org/token=abc and https://x.org/#key:value",
]


@pytest.mark.parametrize("text", SURVIVORS)
def test_prose_and_code_about_secrets_survive(text: str):
    assert mask(text) == text


@pytest.mark.parametrize(("rule", "before", "secret", "after"), EXAMPLES)
def test_a_credential_after_letters_that_grow_in_lower_case_is_masked(rule: str, before: str, secret: str, after: str):
    assert mask(f"İİİ → {before}{secret}{after}") == f"İİİ → {before}{MARK}{rule}]{after}"


def test_a_cut_off_private_key_is_masked_to_the_end_of_the_text():
    assert mask("key:\n" + PEM[:150] + "\nmore\n\nand more") == f"key:\n{MARK}private-key]"


def test_two_credentials_in_a_line_are_masked_each():
    first, second = "ghp_" + key(36, seed=1), "npm_" + key(36, seed=2)
    assert mask(f"{first},{second}") == f"{MARK}github-token],{MARK}npm-token]"


def test_the_more_particular_rule_names_a_credential_two_rules_find():
    assert mask("api_key=" + "sk-ant-" + "api03-" + key(90)) == f"api_key={MARK}anthropic-key]"


def test_masking_a_line_of_json_leaves_it_json():
    value = {"text": f"PASSWORD={PASSWORD}\nnext", "password": PASSWORD, "key": PEM}
    assert json.loads(mask(json.dumps(value))) == {
        "text": f"PASSWORD={MARK}assignment]\nnext",
        "password": f"{MARK}assignment]",
        "key": f"{MARK}private-key]",
    }


def test_a_json_string_is_judged_by_the_name_it_stands_under():
    value = {
        "password": PASSWORD,
        "note": PASSWORD,
        "tokens": 5,
        "api_key": [PASSWORD],
        "secret": "see the vault",
    }
    mark = f"{MARK}assignment]"
    assert mask_json(value) == {**value, "password": mark, "api_key": [mark]}


def test_a_credential_used_as_a_json_key_is_masked_and_no_member_is_lost():
    one, two = ("ghp_" + key(36, seed=n) for n in (1, 2))
    masked = mask_json({one: 1, two: 2})
    assert isinstance(masked, dict)
    assert list(masked.values()) == [1, 2]
    assert one not in masked
    assert two not in masked


pieces = st.sampled_from([*(before + secret + after for _, before, secret, after in EXAMPLES), *SURVIVORS])
texts = st.lists(st.one_of(pieces, st.text(max_size=20), st.sampled_from("=:\"' \n-_.@/[]\\")), max_size=5).map("".join)
plain = st.text(alphabet=string.ascii_letters + " \n,", max_size=200)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["password", "a", "b"]), inner)
    ),
    max_leaves=8,
)


@given(texts)
def test_masking_twice_is_masking_once(text: str):
    assert mask(mask(text)) == mask(text)


@given(texts)
def test_findings_are_sorted_and_do_not_overlap(text: str):
    findings = find(text)
    assert all(0 <= found.start < found.end <= len(text) for found in findings)
    assert all(left.end <= right.start for left, right in pairwise(findings))


@given(plain)
def test_plain_words_are_returned_as_they_are(text: str):
    assert mask(text) is text


@given(
    plain,
    st.sampled_from([example for example in EXAMPLES if example[3] and "curl" not in example[1]]),
    plain,
)
def test_the_text_around_a_credential_is_kept(left: str, example: tuple[str, str, str, str], right: str):
    rule, before, secret, after = example
    assert mask(f"{left}\n{before}{secret}{after}\n{right}") == f"{left}\n{before}{MARK}{rule}]{after}\n{right}"


def shape(value: object) -> object:
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value)


@given(values)
def test_masked_json_has_the_same_shape_and_masking_it_twice_is_masking_it_once(value: object):
    masked = mask_json(value)
    assert shape(masked) == shape(value)
    assert mask_json(masked) == masked
