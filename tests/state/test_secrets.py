"""Which variables and settings are secrets, by their names and by what they hold."""

import pytest

from clew.state.secrets import is_secret_name, known_secrets, secret_settings
from clew.state.settings import Settings

SECRET = [
    "OPENAI_API_KEY",
    "STRIPE_KEY",
    "STRIPE_KEY_LIVE",
    "MY_TOKENS",
    "DB_PASS",
    "MYSQL_ROOT_PASSWORD",
    "PGPASSWORD",
    "SSHPASS",
    "SSH_PASSPHRASE",
    "AWS_SECRET_ACCESS_KEY",
    "SECRET_KEY_BASE",
    "CLIENT_SECRETS",
    "TOKEN_2",
    "OPENAI_API_KEY_2",
    "SENTRY_DSN",
    "AZURE_CONNECTION_STRING",
    "GITHUB_PAT",
    "DB_PWD",
    "NPM_CONFIG__AUTH",
    "DOCKER_CREDS",
    "GOOGLE_CREDENTIALS",
    "CLEW_ENCRYPTION_KEY",
    "SESSION_COOKIE",
    "GH_TOKEN_CI",
    "api_key",
    "apiKey",
    "X-Api-Key",
    "Authorization",
    "clientSecret",
    "bearer_token",
    "APIKEY",
    "OPENAIKEY",
    "password",
    "passwd",
    "key",
]

HARMLESS = [
    "PATH",
    "KEYBOARD",
    "KEYBOARD_LAYOUT",
    "XKB_KEYMAP",
    "SSH_AUTH_SOCK",
    "XAUTHORITY",
    "PWD",
    "OLDPWD",
    "HOME",
    "MONKEY",
    "GIT_AUTHOR_NAME",
    "KEY_FILE",
    "AWS_ACCESS_KEY_ID",
    "TOKENIZERS_PARALLELISM",
    "PASSWORD_STORE_DIR",
    "MAX_TOKENS",
    "TOKENS_PER_MINUTE",
    "TOKEN_URL",
    "SSH_PUBLIC_KEY",
    "NEXT_PUBLIC_API_KEY",
    "SSH_KEY_PATH",
    "GOOGLE_API_KEY_FILE",
    "DBUS_SESSION_BUS_ADDRESS",
    "COMPASS_HOME",
    "max_tokens",
    "model",
    "PASSTHROUGH",
    "AUTHOR",
    "SECRETARY",
    "TOKEN_TYPE",
]


@pytest.mark.parametrize("name", SECRET)
def test_names_of_secrets_are_known(name):
    assert is_secret_name(name)


@pytest.mark.parametrize("name", HARMLESS)
def test_other_names_are_left_alone(name):
    assert not is_secret_name(name)


def test_the_values_of_secret_variables_are_known_but_paths_and_counts(tmp_path):
    (tmp_path / "key.json").touch()
    environment = {
        "STRIPE_KEY": "value of stripe",
        "DB_PASS": "12345678",
        "AWS_SECRET_ACCESS_KEY": "/begins/with+a+slash",
        "GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "key.json"),
        "CACHED_TOKENS": "10000000",
        "LONG_KEY": "/" + "x" * 5000,
        "EMPTY_TOKEN": "",
        "PATH": "/usr/bin",
    }
    assert known_secrets(environment) == sorted(
        [environment["STRIPE_KEY"], "12345678", "/begins/with+a+slash", environment["LONG_KEY"]]
    )


def test_passwords_in_addresses_are_known_under_any_name_and_as_they_are_typed():
    environment = {
        "DATABASE_URL": "postgresql://ann:p%40ss%20word@db/clew",
        "REDIS": "redis://:ticket-of-redis@cache:1",
    }
    assert known_secrets(environment) == ["p%40ss%20word", "p@ss word", "ticket-of-redis"]
    assert known_secrets({"SITE": "https://example.com:8080/@ann", "FORM": "postgres://{user}:{password}@host"}) == []
    assert secret_settings(Settings(db="postgresql://ann:password-of-ann@db/clew")) == {"password-of-ann"}
