//! Tokens of messaging, payment, monitoring and other services.

use super::Shape;
use crate::redact::token::{all, if_random};

pub(super) const TOKENS: &[Shape] = &[
    Shape::new("slack_token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}", all)
        .from("gitleaks slack-bot-token")
        .finds("xoxb-123456789012-{24}")
        .leaves("xoxb-"),
    Shape::new("slack_token", r"(?:xapp-|xoxe\.xox[bp]-)[A-Za-z0-9-]{10,}", all)
        .from("gitleaks slack-app-token")
        .finds("xapp-1-{upper11}-{digit13}-{hex64}")
        .leaves("xapp-1"),
    Shape::new(
        "discord_token",
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
        if_random,
    )
    .from("https://discord.com/developers/docs/reference#authentication")
    .finds("MTk4{22}.Cl2FMQ.{27}")
    .leaves("Module.method.argument"),
    Shape::new("telegram_token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", all)
        .from("https://core.telegram.org/bots/api#authorizing-your-bot")
        .finds("{digit10}:AA{33}")
        .leaves("12345678:AA"),
    Shape::new("twilio_key", r"SK[a-f0-9]{32}\b", all)
        .from("gitleaks twilio-api-key")
        .finds("SK{hex32}")
        .leaves("AC{hex32}"),
    Shape::new("sendgrid_key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", all)
        .from("gitleaks sendgrid-api-token")
        .finds("SG.{22}.{43}")
        .leaves("SG.example.org"),
    Shape::new("mailgun_key", r"(?:key-[a-f0-9]{32}|[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8})\b", all)
        .from("gitleaks mailgun-private-api-token")
        .finds("key-{hex32}")
        .leaves("key-{hex12}"),
    Shape::new("mailchimp_key", r"[a-f0-9]{32}-us[0-9]{1,2}\b", all)
        .from("gitleaks mailchimp-api-key")
        .finds("{hex32}-us14")
        .leaves("{hex32}-eu"),
    Shape::new("brevo_key", r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}", all)
        .from("gitleaks sendinblue-api-token")
        .finds("xkeysib-{hex64}-{16}")
        .leaves("xkeysib-x"),
    Shape::new("stripe_key", r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}", all)
        .from("gitleaks stripe-access-token")
        .finds("sk_live_{24}")
        .leaves("pk_live_{24}"),
    Shape::new("stripe_key", r"whsec_[A-Za-z0-9+/]{16,}", all)
        .from("https://docs.stripe.com/webhooks/signature")
        .finds("whsec_{32}")
        .leaves("whsec_"),
    Shape::new(
        "square_token",
        r"(?:sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}|EAAA[A-Za-z0-9_-]{56,})",
        if_random,
    )
    .from("gitleaks square-access-token")
    .finds("sq0atp-{22}")
    .leaves("sq0atp-"),
    Shape::new("shopify_token", r"shp(?:at|ca|pa|ss|ua|tka)_[a-fA-F0-9]{32}", all)
        .from("gitleaks shopify-access-token")
        .finds("shpat_{hex32}")
        .leaves("shpat_name"),
    Shape::new(
        "plaid_token",
        r"access-(?:sandbox|development|production)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
        all,
    )
    .from("gitleaks plaid-api-token")
    .finds("access-sandbox-{hex8}-{hex4}-{hex4}-{hex4}-{hex12}")
    .leaves("access-sandbox-area"),
    Shape::new("flutterwave_key", r"FLWSECK(?:_TEST)?-[a-zA-Z0-9]{12,}(?:-X)?", all)
        .from("gitleaks flutterwave-secret-key")
        .finds("FLWSECK_TEST-{hex32}-X")
        .leaves("FLWPUBK_TEST-{hex32}-X"),
    Shape::new("easypost_key", r"EZ[AT]K[A-Za-z0-9]{54}", all)
        .from("gitleaks easypost-api-token")
        .finds("EZAK{54}")
        .leaves("EZAK"),
    Shape::new("shippo_token", r"shippo_(?:live|test)_[a-f0-9]{40}", all)
        .from("gitleaks shippo-api-token")
        .finds("shippo_live_{hex40}")
        .leaves("shippo_live_mode"),
    Shape::new("duffel_token", r"duffel_(?:live|test)_[A-Za-z0-9_=-]{43}", all)
        .from("gitleaks duffel-api-token")
        .finds("duffel_test_{43}")
        .leaves("duffel_test_x"),
    Shape::new("newrelic_key", r"NR(?:AK|II|JS|BR|RA|IQ|SP)-[A-Za-z0-9_-]{19,}", all)
        .from("gitleaks new-relic-insert-key")
        .finds("NRAK-{upper27}")
        .leaves("NRAK-"),
    Shape::new("newrelic_key", r"[a-f0-9]{30,36}NRAL\b", all)
        .from("https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys")
        .finds("{hex36}NRAL")
        .leaves("{hex8}NRAL"),
    Shape::new(
        "grafana_token",
        r"(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}=*)",
        all,
    )
    .from("gitleaks grafana-service-account-token")
    .finds("glsa_{32}_{hex8}")
    .leaves("glc_name"),
    Shape::new("sentry_token", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}", all)
        .from("gitleaks sentry-org-token, sentry-user-token")
        .finds("sntryu_{hex64}")
        .leaves("sntrys_x"),
    Shape::new("dynatrace_token", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}", all)
        .from("gitleaks dynatrace-api-token")
        .finds("dt0c01.{upper24}.{upper64}")
        .leaves("dt0c01.id"),
    Shape::new("notion_token", r"(?:ntn_|secret_)[A-Za-z0-9]{43,}", if_random)
        .from("gitleaks notion-api-token")
        .finds("ntn_{digit11}{35}")
        .leaves("secret_name_of_the_kubernetes_object_in_question"),
    Shape::new("airtable_token", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", all)
        .from("gitleaks airtable-personnal-access-token")
        .finds("pat{14}.{hex64}")
        .leaves("pattern.{hex64}"),
    Shape::new("asana_token", r"[0-9]/[0-9]{16}(?:/[0-9]{16})?:[a-f0-9]{32}", all)
        .from("https://developers.asana.com/docs/personal-access-token")
        .finds("1/{digit16}:{hex32}")
        .leaves("1/2:3"),
    Shape::new(
        "hubspot_token",
        r"pat-(?:na|eu)[0-9]-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
        all,
    )
    .from("GitHub secret scanning hubspot_api_personal_access_key")
    .finds("pat-na1-{hex8}-{hex4}-{hex4}-{hex4}-{hex12}")
    .leaves("pat-na1-region"),
    Shape::new("contentful_token", r"CFPAT-[A-Za-z0-9_-]{43}", all)
        .from("GitHub secret scanning contentful_personal_access_token")
        .finds("CFPAT-{43}")
        .leaves("CFPAT-"),
    Shape::new("typeform_token", r"tfp_[A-Za-z0-9_.=-]{44,}", all)
        .from("gitleaks typeform-api-token")
        .finds("tfp_{59}")
        .leaves("tfp_form"),
    Shape::new("frameio_token", r"fio-u-[A-Za-z0-9_=-]{64}", all)
        .from("gitleaks frameio-api-token")
        .finds("fio-u-{64}")
        .leaves("fio-u-x"),
    Shape::new("readme_key", r"rdme_[a-z0-9]{70}", all)
        .from("gitleaks readme-api-token")
        .finds("rdme_{hex70}")
        .leaves("rdme_x"),
    Shape::new(
        "launchdarkly_key",
        r"(?:sdk|api|mob)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
        all,
    )
    .from("GitHub secret scanning launchdarkly_access_token")
    .finds("sdk-{hex8}-{hex4}-{hex4}-{hex4}-{hex12}")
    .leaves("{hex8}-{hex4}-{hex4}-{hex4}-{hex12}"),
    Shape::new("maxmind_key", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b", all)
        .from("gitleaks maxmind-license-key")
        .finds("{6}_{29}_mmk")
        .leaves("a_b_mmk"),
    Shape::new("mapbox_token", r"sk\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}", all)
        .from("https://docs.mapbox.com/help/glossary/access-token")
        .finds("sk.eyJ{60}.{22}")
        .leaves("sk.example"),
    Shape::new("dropbox_token", r"sl\.[A-Za-z0-9_=-]{130,}", all)
        .from("gitleaks dropbox-short-lived-api-token")
        .finds("sl.{135}")
        .leaves("sl.wikipedia.org"),
    Shape::new("facebook_token", r"EAA[A-Z][A-Za-z0-9]{80,}", if_random)
        .from("gitleaks facebook-page-access-token")
        .finds("EAAC{120}")
        .leaves("EAAC{40}"),
    Shape::new("twitter_token", r"A{20,22}[A-Za-z0-9%]{60,}", if_random)
        .from("gitleaks twitter-bearer-token")
        .finds("AAAAAAAAAAAAAAAAAAAAAA{90}")
        .leaves("AAAAAAAAAAAAAAAAAAAAAA"),
    Shape::new("adafruit_key", r"aio_[A-Za-z0-9]{28}\b", if_random)
        .from("GitHub secret scanning adafruit_io_key")
        .finds("aio_{28}")
        .leaves("aio_pika"),
    Shape::new("adobe_secret", r"p8e-[A-Za-z0-9_-]{32}", if_random)
        .from("gitleaks adobe-client-secret")
        .finds("p8e-{32}")
        .leaves("p8e-x"),
];
