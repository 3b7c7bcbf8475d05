//! Tokens of code hosts, package registries, build services and language models.

use super::Shape;
use crate::redact::token::{all, if_random, jwt};

pub(super) const TOKENS: &[Shape] = &[
    Shape::new("github_token", r"gh[pousr]_[A-Za-z0-9]{30,}", all)
        .from("gitleaks github-pat")
        .finds("ghp_{36}")
        .leaves("ghp_name"),
    Shape::new("github_token", r"github_pat_[A-Za-z0-9_]{22,}", all)
        .from("gitleaks github-fine-grained-pat")
        .finds("github_pat_{22}_{59}")
        .leaves("github_pat_name"),
    Shape::new(
        "gitlab_token",
        r"gl(?:pat|dt|rt|ptt|ft|soat|cbt|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{20,}",
        all,
    )
    .from("gitleaks gitlab-pat")
    .finds("glpat-{20}")
    .leaves("glpat-name"),
    Shape::new("gitlab_token", r"GR1348941[A-Za-z0-9_-]{20}", all)
        .from("gitleaks gitlab-rrt")
        .finds("GR1348941{20}")
        .leaves("GR1348941"),
    Shape::new("atlassian_token", r"AT(?:ATT|CTT|BB)[A-Za-z0-9_=-]{28,}", if_random)
        .from("GitHub secret scanning atlassian_api_token")
        .finds("ATATT3xFfGF0{180}")
        .leaves("ATATT"),
    Shape::new("sourcegraph_token", r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}", all)
        .from("gitleaks sourcegraph-access-token")
        .finds("sgp_{hex40}")
        .leaves("sgp_{hex12}"),
    Shape::new("npm_token", r"npm_[A-Za-z0-9]{36,}", all)
        .from("gitleaks npm-access-token")
        .finds("npm_{36}")
        .leaves("npm_config_cache"),
    Shape::new("pypi_token", r"pypi-[A-Za-z0-9_-]{50,}", all)
        .from("gitleaks pypi-upload-token")
        .finds("pypi-AgEI{80}")
        .leaves("pypi-mirror"),
    Shape::new("rubygems_key", r"rubygems_[a-f0-9]{48}", all)
        .from("gitleaks rubygems-api-token")
        .finds("rubygems_{hex48}")
        .leaves("rubygems_version"),
    Shape::new("crates_io_token", r"cio[A-Za-z0-9]{32}\b", if_random)
        .from("GitHub secret scanning cratesio_api_token")
        .finds("cio{32}")
        .leaves("cio{12}"),
    Shape::new("nuget_key", r"oy2[a-z0-9]{43}\b", if_random)
        .from("GitHub secret scanning nuget_api_key")
        .finds("oy2{hex43}")
        .leaves("oy2{hex20}"),
    Shape::new("clojars_token", r"CLOJARS_[a-f0-9]{60}", all)
        .from("gitleaks clojars-api-token")
        .finds("CLOJARS_{hex60}")
        .leaves("CLOJARS_USERNAME"),
    Shape::new("docker_token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}", all)
        .from("GitHub secret scanning docker_personal_access_token")
        .finds("dckr_pat_{27}")
        .leaves("dckr_pat_name"),
    Shape::new("artifactory_token", r"(?:AKCp[A-Za-z0-9]{60,}|cmVmd[A-Za-z0-9]{59})", all)
        .from("gitleaks artifactory-api-key")
        .finds("AKCp{69}")
        .leaves("cmVmd{20}"),
    Shape::new("sonar_token", r"sq[apu]_[a-f0-9]{40}", all)
        .from("gitleaks sonar-api-token")
        .finds("squ_{hex40}")
        .leaves("squ_name"),
    Shape::new("buildkite_token", r"bk(?:ua|at|aj)_[a-zA-Z0-9]{40}", all)
        .from("GitHub secret scanning buildkite_user_access_token")
        .finds("bkua_{hex40}")
        .leaves("bkua_name"),
    Shape::new("circleci_token", r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{22}_[a-f0-9]{40}", all)
        .from("https://circleci.com/docs/managing-api-tokens")
        .finds("CCIPAT_{22}_{hex40}")
        .leaves("CCIPAT_name"),
    Shape::new("octopus_key", r"API-[A-Z0-9]{25,27}\b", if_random)
        .from("gitleaks octopus-deploy-api-key")
        .finds("API-{upper26}")
        .leaves("API-REFERENCE"),
    Shape::new("postman_key", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", all)
        .from("gitleaks postman-api-token")
        .finds("PMAK-{hex24}-{hex34}")
        .leaves("PMAK-{hex8}"),
    Shape::new("infracost_key", r"ico-[A-Za-z0-9]{32}\b", if_random)
        .from("gitleaks infracost-api-token")
        .finds("ico-{32}")
        .leaves("ico-small"),
    Shape::new("linear_key", r"lin_(?:api|oauth)_[A-Za-z0-9]{40,}", all)
        .from("GitHub secret scanning linear_api_key")
        .finds("lin_api_{40}")
        .leaves("lin_api_url"),
    Shape::new("figma_token", r"fig[dor]_[A-Za-z0-9_-]{40,}", all)
        .from("GitHub secret scanning figma_pat")
        .finds("figd_{40}")
        .leaves("figd_file"),
    Shape::new("huggingface_token", r"(?:hf|api_org)_[A-Za-z0-9]{30,}", all)
        .from("gitleaks huggingface-access-token")
        .finds("hf_{34}")
        .leaves("hf_hub"),
    // OpenAI, Anthropic and others.
    Shape::new("api_key", r"sk-[A-Za-z0-9_-]{20,}", if_random)
        .from("gitleaks openai-api-key, anthropic-api-key")
        .finds("sk-ant-api03-{93}AA")
        .leaves("sk-learn-something-quite-long-as-a-name"),
    Shape::new("api_key", r"(?:gsk|r8|xai|pplx|fw)[_-][A-Za-z0-9]{36,}", all)
        .from("GitHub secret scanning groq, replicate, xai; gitleaks perplexity-api-key")
        .finds("gsk_{52}")
        .leaves("gsk_menu_model"),
    Shape::new("langsmith_key", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}", all)
        .from("GitHub secret scanning langchain_api_key")
        .finds("lsv2_pt_{hex32}_{hex10}")
        .leaves("lsv2_pt_x"),
    Shape::new("age_key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}", all)
        .from("gitleaks age-secret-key")
        .finds("AGE-SECRET-KEY-1{upper58}")
        .leaves("AGE-SECRET-KEY-1"),
    Shape::new("jwt", r"eyJ[A-Za-z0-9_-]{7,}", jwt)
        .from("RFC 7519")
        .finds("eyJhbGciOiJIUzI1NiJ9.eyJzdWIi{20}.{43}")
        .leaves("eyJhbGciOiJIUzI1NiJ9"),
];
