//! The words of labels: fixed sets, so that a peer cannot fill the memory with labels, and all can be removed when it leaves.

/// How a comparison with a peer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Nothing differs.
    Equal,
    /// Something does.
    Different,
    /// More than is mended.
    TooMany,
    /// The peer answered with something that is no digest.
    Unreadable,
    /// It did not answer.
    Failed,
}

impl Comparison {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Equal, Self::Different, Self::TooMany, Self::Unreadable, Self::Failed];

    /// The word for it in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Different => "different",
            Self::TooMany => "too_many",
            Self::Unreadable => "unreadable",
            Self::Failed => "failed",
        }
    }
}

/// Statuses of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(&'static str);

impl Class {
    /// All of them.
    pub(super) const ALL: [Self; 7] =
        [Self("2xx"), Self("404"), Self("409"), Self("4xx"), Self("503"), Self("5xx"), Self("other")];

    pub(super) const fn as_str(self) -> &'static str {
        self.0
    }
}

/// The class of a status.
pub(super) fn class(code: u16) -> Class {
    let [ok, not_found, conflict, client, unavailable, server, other] = Class::ALL;
    match code {
        200..=299 => ok,
        404 => not_found,
        409 => conflict,
        400..=499 => client,
        503 => unavailable,
        500..=599 => server,
        _ => other,
    }
}
