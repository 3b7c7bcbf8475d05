//! Secrets that the text beside them identifies: commands, keys in files, URLs, headers, names.

use super::Shape;
use crate::redact::{assignment, beside, command_line, key, token};

/// Passwords in the arguments of commands.
pub(super) const COMMANDS: &[Shape] = &[
    Shape::new("command_password", r"curl[ \t]", command_line::password)
        .from("curl(1): --user, --proxy-user")
        .finds("curl -sS -u me:⟦hunter⟧ https://x")
        .leaves("docker run -u 1000:1000 curl"),
    Shape::new(
        "command_password",
        r"(?:mysql|mariadb)(?:dump|admin|show|import)?[ \t]",
        command_line::password,
    )
    .from("mysql(1): --password, -p")
    .finds("mysql -u root -p⟦hunter⟧ db")
    .leaves("mysql -u root -p db"),
    Shape::new("command_password", r"sshpass[ \t]", command_line::password)
        .from("sshpass(1): -p")
        .finds("sshpass -p ⟦hunter⟧ ssh me@host")
        .leaves("sshpass -f /run/pw ssh me@host"),
    Shape::new("command_password", r"redis-cli[ \t]", command_line::password)
        .from("redis-cli --help: -a, --pass")
        .finds("redis-cli -h db -a ⟦hunter⟧ ping")
        .leaves("redis-cli -h db ping"),
    Shape::new("command_password", r"htpasswd[ \t]", command_line::password)
        .from("htpasswd(1): -b")
        .finds("htpasswd -bB /etc/pw me ⟦hunter⟧")
        .leaves("htpasswd -B /etc/pw me"),
    Shape::new("command_password", r"openssl[ \t]", command_line::password)
        .from("openssl-passphrase-options(1)")
        .finds("openssl rsa -in k.pem -passin pass:⟦hunter⟧")
        .leaves("openssl rsa -in k.pem -passin file:/run/pw"),
    Shape::new(
        "command_password",
        r"ldap(?:search|modify|add|delete|whoami|passwd)[ \t]",
        command_line::password,
    )
    .from("ldapsearch(1): -w")
    .finds("ldapsearch -D cn=me -w ⟦hunter⟧ -b dc=x")
    .leaves("ldapsearch -D cn=me -W -b dc=x"),
    Shape::new("command_password", r"(?:smbclient|rpcclient|net)[ \t]", command_line::password)
        .from("smbclient(1): --user")
        .finds("smbclient //srv/share -U me%⟦hunter⟧")
        .leaves("smbclient //srv/share -U me"),
    Shape::new("command_password", r"(?:zip|unzip)[ \t]", command_line::password)
        .from("zip(1): -P")
        .finds("unzip -P ⟦hunter⟧ a.zip")
        .leaves("unzip -p a.zip"),
    Shape::new(
        "command_password",
        r"(?:docker|podman)[ \t]{1,4}login[ \t]",
        command_line::password,
    )
    .from("docker login --help: -p")
    .finds("docker login -u me -p ⟦hunter⟧ registry")
    .leaves("docker run -p 80:80 x"),
];

/// Keys and hashes in files.
pub(super) const KEYS: &[Shape] = &[
    Shape::new("private_key", key::BEGIN, key::after_begin)
        .from("RFC 7468, RFC 4716, RFC 9580")
        .finds("-----BEGIN OPENSSH PRIVATE KEY-----⟦\n{64}\n{64}\n{20}==\n-----END OPENSSH PRIVATE KEY-----⟧")
        .leaves("-----BEGIN PUBLIC KEY-----\n{64}\n-----END PUBLIC KEY-----"),
    Shape::new("private_key", key::END, key::before_end)
        .from("RFC 7468")
        .finds("$ tail -2 key\n⟦{64}\n⟧-----END PRIVATE KEY-----")
        .leaves("-----END CERTIFICATE-----"),
    Shape::new("private_key", key::PUTTY, key::putty_lines)
        .from("https://the.earth.li/~sgtatham/putty/0.83/htmldoc/AppendixC.html")
        .finds("Private-Lines: 2⟦\n{64}\n{44}⟧\nPrivate-MAC: 1f")
        .leaves("Public-Lines: 2\n{64}\n{44}"),
    Shape::new("password_hash", beside::HASH, token::all)
        .from("crypt(5)")
        .finds("root:⟦$6$saltsalt${86}⟧:19000:0:99999:7:::")
        .leaves("awk '{print $1$2, $6}'"),
    Shape::new("password_hash", r"\{(?:S?SHA|SSHA256|SSHA512|PBKDF2|CRYPT)\}[A-Za-z0-9+/=$.]{20,}", token::all)
        .from("RFC 3112, slapd.conf(5)")
        .finds("userPassword: ⟦{SSHA}{38}==⟧")
        .leaves("{SSHA} scheme"),
];

/// Secrets in URLs and HTTP headers.
pub(super) const ADDRESSES: &[Shape] = &[
    Shape::new("url_password", "://", token::in_url)
        .from("RFC 3986 section 3.2.1; Sentry DSN, MongoDB, PostgreSQL and Redis connection URIs")
        .finds("psql postgres://me:⟦p@ss:w⟧@db/x")
        .leaves("https://example.com:8080/a@b"),
    Shape::new("slack_webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/", beside::path)
        .from("gitleaks slack-webhook-url")
        .finds("https://hooks.slack.com/services/⟦T{upper8}/B{upper10}/{24}⟧")
        .leaves("https://hooks.slack.com/services/"),
    Shape::new("discord_webhook", r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{5,25}/", beside::path)
        .from("https://discord.com/developers/docs/resources/webhook")
        .finds("https://discord.com/api/webhooks/{digit18}/⟦{68}⟧")
        .leaves("https://discord.com/api/webhooks/{digit18}"),
    Shape::new("teams_webhook", r"webhook\.office\.com/webhookb2/", beside::path)
        .from("gitleaks microsoft-teams-webhook")
        .finds("https://x.webhook.office.com/webhookb2/⟦{hex36}@{hex36}/IncomingWebhook/{hex32}/{hex36}⟧")
        .leaves("https://x.webhook.office.com/"),
    Shape::new("telegram_token", r"api\.telegram\.org/bot", beside::path_part)
        .from("https://core.telegram.org/bots/api#making-requests")
        .finds("https://api.telegram.org/bot⟦{digit10}:AA{33}⟧/getMe")
        .leaves("https://api.telegram.org/bots"),
    Shape::new("azure_sas", r"[?&;]sig=", beside::parameter)
        .from("https://learn.microsoft.com/rest/api/storageservices/create-service-sas")
        .finds("https://x.blob.core.windows.net/c?sv=2022-11-02&sig=⟦{43}%3D⟧&se=2030")
        .leaves("https://x/?sig=none&v=1"),
    Shape::new("url_signature", r"(?i-u:x-(?:amz|goog)-signature)=", beside::parameter)
        .from("https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html")
        .finds("https://b.s3.amazonaws.com/k?X-Amz-Signature=⟦{hex64}⟧")
        .leaves("the parameter X-Amz-Signature= is needed"),
    Shape::new("authorization", r#"(?i-u:authorization)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}"#, token::credentials)
        .from("RFC 9110 section 11.6.2, RFC 7617, RFC 6750")
        .finds("-H 'Authorization: Basic ⟦{20}=⟧' https://x")
        .leaves("Authorization: required"),
    Shape::new("authorization", r"(?i-u:bearer)[ \t]{1,4}", token::bearer)
        .from("RFC 6750")
        .finds("sent bearer ⟦{24}⟧")
        .leaves("the bearer of this letter"),
    Shape::new("cookie", r#"(?i-u:set-cookie|cookie)\\?["']?[ \t]{0,4}:[ \t]{0,4}"#, beside::cookies)
        .from("RFC 6265")
        .finds("Set-Cookie: sid=⟦{24}⟧; Path=/; HttpOnly")
        .leaves("Cookie: off"),
];

/// Values beside a telling name.
pub(super) const NAMED: &[Shape] = &[
    Shape::new("netrc_password", beside::NETRC, beside::word)
        .from("netrc(5)")
        .finds("machine api.example.com\n  login me\n  password ⟦hunter⟧\n")
        .leaves("the machine login page asks for a password twice"),
    Shape::new("pgpass_password", r":5432:[^:\s]{1,64}:[^:\s]{1,64}:", beside::word)
        .from("https://www.postgresql.org/docs/current/libpq-pgpass.html")
        .finds("db.example.com:5432:app:me:⟦hunter⟧")
        .leaves("listening on :5432: ok"),
    Shape::new("connection_string", beside::CONNECTION, beside::connection_value)
        .from("https://learn.microsoft.com/dotnet/api/system.data.sqlclient.sqlconnection.connectionstring")
        .finds("Server=db;User Id=me;Password=⟦two words⟧;Encrypt=True")
        .leaves("Server=db;Encrypt=True;Pooling=False"),
    Shape::new("docker_auth", r#""auth"[ \t]{0,4}:[ \t]{0,4}""#, beside::quoted_base64)
        .from("docker login, credential stores: config.json")
        .finds(r#"{"auths": {"ghcr.io": {"auth": "⟦{32}=⟧"}}}"#)
        .leaves(r#"{"auth": "none"}"#),
    Shape::new("npm_auth", r"\b_auth[ \t]{0,4}=[ \t]{0,4}", beside::word)
        .from("npmrc(5): _auth")
        .finds("//registry.example.com/:_auth=⟦{20}=⟧")
        .leaves("is_auth=true"),
    Shape::new("xml_secret", beside::XML, beside::xml_text)
        .from("https://maven.apache.org/settings.html#servers")
        .finds("<username>me</username><password>⟦hunter⟧</password>")
        .leaves("<password>${env.PW}</password>"),
    Shape::new("xml_secret", beside::XML_ATTRIBUTE, beside::quoted)
        .from("gitleaks nuget-config-password")
        .finds(r#"<add key="ClearTextPassword" value="⟦hunter⟧" />"#)
        .leaves(r#"<add key="Username" value="me" />"#),
    Shape::new("sql_password", r"(?i-u:identified[ ]by|password)[ \t]{1,4}'", beside::quoted)
        .from("https://www.postgresql.org/docs/current/sql-createrole.html")
        .finds("ALTER ROLE me WITH PASSWORD '⟦hunter⟧';")
        .leaves("ALTER ROLE me WITH PASSWORD NULL;"),
    Shape::new("password", r"\bREDISCLI_AUTH=", beside::word)
        .from("redis-cli --help: REDISCLI_AUTH")
        .finds("REDISCLI_AUTH=⟦hunter⟧ redis-cli ping")
        .leaves("REDISCLI_AUTH= redis-cli ping"),
    Shape::new("password", assignment::PASSWORD, assignment::value)
        .from("files such as .env, YAML, TOML, INI and JSON; --password of wget(1) and others")
        .finds("export PGPASSWORD=⟦hunter⟧")
        .leaves("wget --password-file=/run/pw https://x"),
    Shape::new("token", assignment::TOKEN, assignment::value)
        .from("files such as .env, YAML, TOML, INI and JSON; kubeconfig")
        .finds("    token: ⟦{40}⟧\n")
        .leaves("max_tokens: 4096"),
    Shape::new("secret", assignment::SECRET, assignment::value)
        .from("files such as .env, YAML, TOML, INI and JSON; Django, Rails, AWS credentials")
        .finds("aws_secret_access_key = ⟦{40}⟧")
        .leaves("secret_name: db"),
    Shape::new("key", assignment::KEY, assignment::value)
        .from("files such as .env, YAML, TOML, INI and JSON; kubeconfig, wg(8), Azure storage")
        .finds("    client-key-data: ⟦LS0tLS1CRUdJTiB{60}==⟧\n")
        .leaves("client-certificate-data: LS0t"),
];
