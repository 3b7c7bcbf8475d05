//! Tokens of clouds, hosting providers and databases.

use super::Shape;
use crate::redact::token::{all, if_random};

pub(super) const TOKENS: &[Shape] = &[
    Shape::new("aws_key", r"(?:AKIA|ASIA|ABIA|ACCA|AIDA|AROA)[A-Z0-9]{16,}", all)
        .from("gitleaks aws-access-token")
        .finds("AKIA{upper16}")
        .leaves("AKIAB"),
    Shape::new("aws_key", r"ABSK[A-Za-z0-9+/]{100,}=*", all)
        .from("gitleaks aws-amazon-bedrock-api-key-long-lived")
        .finds("ABSK{112}")
        .leaves("ABSK is a prefix"),
    Shape::new("google_key", r"AIza[A-Za-z0-9_-]{35,}", all)
        .from("gitleaks gcp-api-key")
        .finds("AIza{35}")
        .leaves("AIza{20}"),
    Shape::new("google_token", r"ya29\.[A-Za-z0-9_-]{20,}", all)
        .from("https://cloud.google.com/docs/authentication/token-types")
        .finds("ya29.a0Af{60}")
        .leaves("ya29.example"),
    Shape::new("google_token", r"GOCSPX-[A-Za-z0-9_-]{28,}", all)
        .from("GitHub secret scanning google_oauth_client_secret")
        .finds("GOCSPX-{28}")
        .leaves("GOCSPX-id"),
    Shape::new("google_token", r"1//0[A-Za-z0-9_-]{40,}", all)
        .from("GitHub secret scanning google_oauth_refresh_token")
        .finds("1//0{60}")
        .leaves("1//0 is a division"),
    Shape::new("azure_secret", r"[A-Za-z0-9_]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}", all)
        .from("gitleaks azure-ad-client-secret")
        .finds("abc8Q~{34}")
        .leaves("abc8Q~short"),
    Shape::new("alibaba_key", r"LTAI[A-Za-z0-9]{17,}", if_random)
        .from("gitleaks alibaba-access-key-id")
        .finds("LTAI{20}")
        .leaves("LTAI-region"),
    Shape::new(
        "yandex_key",
        r"(?:YC[A-Za-z0-9_-]{38}|t1\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{80,})",
        if_random,
    )
    .from("gitleaks yandex-aws-access-token")
    .finds("YC{38}")
    .leaves("YC{10}"),
    Shape::new("digitalocean_token", r"do[opr]_v1_[a-f0-9]{40,}", all)
        .from("gitleaks digitalocean-pat")
        .finds("dop_v1_{hex64}")
        .leaves("dop_v1_name"),
    Shape::new("heroku_key", r"HRKU-[A-Za-z0-9_-]{36,}", all)
        .from("gitleaks heroku-api-key-v2")
        .finds("HRKU-AA{58}")
        .leaves("HRKU-AA"),
    Shape::new("cloudflare_key", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}", all)
        .from("gitleaks cloudflare-origin-ca-key")
        .finds("v1.0-{hex24}-{hex146}")
        .leaves("v1.0-beta-2"),
    Shape::new("fly_token", r"(?:fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{60,}=*)", all)
        .from("gitleaks flyio-access-token")
        .finds("fo1_{43}")
        .leaves("fo1_x"),
    Shape::new("netlify_token", r"nf[pcoub]_[A-Za-z0-9]{36,}", all)
        .from("GitHub secret scanning netlify_access_token")
        .finds("nfp_{36}")
        .leaves("nfp_build"),
    Shape::new("scalingo_token", r"tk-us-[A-Za-z0-9_-]{48}", all)
        .from("gitleaks scalingo-api-token")
        .finds("tk-us-{48}")
        .leaves("tk-us-east"),
    Shape::new("vault_token", r"hv[sbr]\.[A-Za-z0-9_-]{20,}", all)
        .from("gitleaks vault-service-token")
        .finds("hvs.{92}")
        .leaves("hvs.example"),
    Shape::new("vault_token", r"s\.[A-Za-z0-9]{24}\b", if_random)
        .from("gitleaks vault-service-token")
        .finds("s.{24}")
        .leaves("s.{30}"),
    Shape::new("terraform_token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}", all)
        .from("gitleaks hashicorp-tf-api-token")
        .finds("{14}.atlasv1.{67}")
        .leaves("x.atlasv1.y"),
    Shape::new("pulumi_token", r"pul-[a-f0-9]{40}", all)
        .from("gitleaks pulumi-api-token")
        .finds("pul-{hex40}")
        .leaves("pul-request"),
    Shape::new(
        "doppler_token",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}",
        all,
    )
    .from("gitleaks doppler-api-token")
    .finds("dp.pt.{43}")
    .leaves("dp.pt.name"),
    Shape::new("onepassword_token", r"ops_eyJ[A-Za-z0-9+/]{100,}=*", all)
        .from("gitleaks 1password-service-account-token")
        .finds("ops_eyJ{260}")
        .leaves("ops_eyJ"),
    Shape::new(
        "onepassword_key",
        r"A3-[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}",
        all,
    )
    .from("gitleaks 1password-secret-key")
    .finds("A3-{upper6}-{upper6}-{upper5}-{upper5}-{upper5}-{upper5}")
    .leaves("A3-PAPER-SIZE"),
    Shape::new(
        "tailscale_key",
        r"tskey-(?:api|auth|client|scim|webhook)-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}",
        all,
    )
    .from("https://tailscale.com/kb/1277/key-prefixes")
    .finds("tskey-auth-{14}-{32}")
    .leaves("tskey-auth"),
    Shape::new("databricks_token", r"dapi[a-f0-9]{32}(?:-[0-9])?", all)
        .from("gitleaks databricks-api-token")
        .finds("dapi{hex32}-2")
        .leaves("dapi{hex8}"),
    Shape::new("planetscale_token", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,}", all)
        .from("gitleaks planetscale-api-token")
        .finds("pscale_tkn_{43}")
        .leaves("pscale_tkn_"),
    Shape::new("supabase_key", r"(?:sbp_(?:v0_)?[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})", all)
        .from("https://supabase.com/docs/guides/api/api-keys")
        .finds("sbp_{hex40}")
        .leaves("sb_publishable_{30}"),
    Shape::new("clickhouse_key", r"4b1d[A-Za-z0-9]{38}\b", if_random)
        .from("gitleaks clickhouse-cloud-api-secret-key")
        .finds("4b1d{38}")
        .leaves("4b1d{hex36}"),
    Shape::new("prefect_key", r"pn[ub]_[A-Za-z0-9]{36}", all)
        .from("gitleaks prefect-api-token")
        .finds("pnu_{36}")
        .leaves("pnu_flow"),
    Shape::new("pinecone_key", r"pcsk_[A-Za-z0-9_]{50,}", all)
        .from("GitHub secret scanning pinecone_api_key")
        .finds("pcsk_{70}")
        .leaves("pcsk_index"),
    Shape::new("openshift_token", r"sha256~[A-Za-z0-9_-]{43}", all)
        .from("gitleaks openshift-user-token")
        .finds("sha256~{43}")
        .leaves("sha256:{hex64}"),
    Shape::new("harness_key", r"[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}", all)
        .from("gitleaks harness-api-key")
        .finds("pat.{22}.{24}.{20}")
        .leaves("pat.example.org"),
];
