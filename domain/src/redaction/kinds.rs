//! What is looked for.

/// A kind of thing to take out, as settings name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Keys and tokens of common services, told by how they begin.
    ApiKeys,
    /// Private keys in PEM.
    PrivateKeys,
    /// JSON Web Tokens.
    Jwts,
    /// E-mail addresses.
    Emails,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::ApiKeys, Self::PrivateKeys, Self::Jwts, Self::Emails];

    /// The kinds that are looked for by default: those that nobody means to keep.
    pub const DEFAULT: [Self; 3] = [Self::ApiKeys, Self::PrivateKeys, Self::Jwts];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::ApiKeys => "api_keys",
            Self::PrivateKeys => "private_keys",
            Self::Jwts => "jwts",
            Self::Emails => "emails",
        }
    }
}

/// A secret.
#[derive(Clone, Copy, Debug)]
pub(super) struct Secret {
    pub(super) kind: Kind,
    /// Its name in the text that takes its place.
    pub(super) name: &'static str,
    /// Begins with fixed letters, so that text without them is passed over fast.
    pub(super) pattern: &'static str,
    /// Whether what has no digit is only a word that begins alike.
    pub(super) needs_digit: bool,
}

const fn key(name: &'static str, pattern: &'static str) -> Secret {
    Secret { kind: Kind::ApiKeys, name, pattern, needs_digit: false }
}

const fn key_with_digit(name: &'static str, pattern: &'static str) -> Secret {
    Secret { needs_digit: true, ..key(name, pattern) }
}

/// All secrets; where two match, the first names it. The forms are those that the services document or publish for scanners.
pub(super) const SECRETS: &[Secret] = &[
    key_with_digit("anthropic_key", r"(?-u:\b)sk-ant-[A-Za-z0-9_-]{20,}"),
    key("langfuse_key", r"(?-u:\b)sk-lf-[0-9a-f]{8}-[0-9a-f-]{20,}"),
    key_with_digit("openai_key", r"(?-u:\b)sk-[A-Za-z0-9_-]{20,}"),
    key("aws_key_id", r"(?-u:\b)A(?:KIA|SIA)[A-Z2-7]{16}(?-u:\b)"),
    key("github_token", r"(?-u:\b)gh[opsur]_[A-Za-z0-9]{36,}"),
    key("github_token", r"(?-u:\b)github_pat_[A-Za-z0-9_]{22,}"),
    key("gitlab_token", r"(?-u:\b)glpat-[A-Za-z0-9_-]{20,}"),
    key("google_key", r"(?-u:\b)AIza[A-Za-z0-9_-]{35}"),
    key_with_digit("slack_token", r"(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    key("stripe_key", r"(?-u:\b)[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    key_with_digit("huggingface_token", r"(?-u:\b)hf_[A-Za-z0-9]{30,}"),
    key("npm_token", r"(?-u:\b)npm_[A-Za-z0-9]{36}"),
    key("pypi_token", r"(?-u:\b)pypi-[A-Za-z0-9_-]{50,}"),
    key("sendgrid_key", r"(?-u:\b)SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    key("langsmith_key", r"(?-u:\b)lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    Secret {
        kind: Kind::Jwts,
        name: "jwt",
        pattern: r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        needs_digit: false,
    },
    Secret {
        kind: Kind::PrivateKeys,
        name: "private_key",
        // Whole, with its headers, or cut off after some lines of it. Line breaks may be escaped, as in JSON inside a string.
        pattern: concat!(
            r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----",
            r"(?:(?:[A-Za-z0-9+/=\s\\:,.]|-[A-Za-z0-9])*-----END [A-Z0-9 ]{0,30}PRIVATE KEY-----",
            r"|(?:\s|\\[nr])*(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[nr])*)+)",
        ),
        needs_digit: false,
    },
];

/// How the secrets begin. Text in which none of these stands holds no secret, also when it is JSON, whose escapes leave these
/// letters as they are, but for `\u`.
pub(super) const BEGINNINGS: &str = concat!(
    r"sk-|A(?:KIA|SIA)|gh[opsur]_|github_pat_|glpat-|AIza|xox[abeoprs]-|[rs]k_(?:live|test)_|hf_|npm_|pypi-|SG\.|lsv2_",
    r"|eyJ|-----BEGIN",
);

/// An e-mail address.
pub(super) const EMAIL: &str = r"(?-u:\b)[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}";
