//! Names of applications, as companies give them.

const SUBJECTS: [&str; 40] = [
    "order",
    "payment",
    "inventory",
    "customer",
    "catalog",
    "pricing",
    "shipping",
    "billing",
    "account",
    "search",
    "recommendation",
    "notification",
    "session",
    "basket",
    "voucher",
    "loyalty",
    "invoice",
    "refund",
    "fraud",
    "identity",
    "document",
    "report",
    "analytics",
    "campaign",
    "content",
    "media",
    "translation",
    "geo",
    "calendar",
    "booking",
    "supplier",
    "warehouse",
    "returns",
    "tax",
    "ledger",
    "audit",
    "device",
    "telemetry",
    "feature-flag",
    "webhook",
];
const ROLES: [&str; 8] = ["service", "api", "gateway", "worker", "adapter", "scheduler", "backend", "query"];

/// The name of the application with a number; different for every number.
pub fn application(index: usize) -> String {
    let subject = SUBJECTS[index % SUBJECTS.len()];
    let role = ROLES[(index / SUBJECTS.len()) % ROLES.len()];
    match index / (SUBJECTS.len() * ROLES.len()) {
        0 => format!("{subject}-{role}"),
        line => format!("{subject}-{role}-{line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_distinct() {
        let names: HashSet<String> = (0..5000).map(application).collect();
        assert_eq!(names.len(), 5000);
    }
}
