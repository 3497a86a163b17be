//! What an answer, or the lack of one, means for a batch (spec `replication.md` 2.5 as changed by 9.3.2).

use heureka_protocol::Limits;
use heureka_protocol::batch::read_responses;
use heureka_registry::replication::{Outcome, Sick};

use super::transport::{PeerReply, TransportError};

const EXCERPT_CHARS: usize = 120;

/// The outcome for the queue, and for people the words for what was wrong.
///
/// Other than in Java no status loses a batch: a proxy's 502 or a redirect is retried like a 503.
#[must_use]
pub fn outcome_of(
    reply: &Result<PeerReply, TransportError>,
    items: usize,
    limits: &Limits,
) -> (Outcome, Option<String>) {
    let failed = |why, words: String| (Outcome::Failed(why), Some(words));
    let reply = match reply {
        Ok(reply) => reply,
        Err(error @ TransportError::Unreachable(_)) => return failed(Sick::Unreachable, error.to_string()),
        Err(error @ TransportError::TimedOut(_)) => return failed(Sick::Congested, error.to_string()),
        Err(error @ TransportError::Unreadable(_)) => return failed(Sick::Refusing, error.to_string()),
    };
    match reply.status {
        200..=299 => answered(reply, items, limits),
        503 => failed(Sick::Congested, "answers 503: overloaded or not ready".to_owned()),
        // 431: a smaller batch has fewer stamps in its headers.
        code @ (400 | 413 | 431 | 500) => {
            let words = format!("refuses a batch of {items} items with {code}{}", excerpt(reply));
            (Outcome::Rejected(code), Some(words))
        }
        code => failed(Sick::Refusing, format!("answers {code}{}", excerpt(reply))),
    }
}

fn answered(reply: &PeerReply, items: usize, limits: &Limits) -> (Outcome, Option<String>) {
    let refusing = |words: String| (Outcome::Failed(Sick::Refusing), Some(words));
    match read_responses(&reply.body, limits) {
        Ok(answers) if answers.len() == items => (Outcome::Answered(answers), None),
        Ok(answers) => refusing(format!("gives {} answers to {items} items", answers.len())),
        Err(_) if reply.body.is_empty() => refusing(format!("answers {} without a body", reply.status)),
        Err(error) => {
            let kind = reply.content_type.as_deref().unwrap_or("no type");
            refusing(format!("answers {} with a body ({kind}) that is no list: {error}", reply.status))
        }
    }
}

/// The beginning of a body, so that one sees which proxy speaks.
fn excerpt(reply: &PeerReply) -> String {
    let text = String::from_utf8_lossy(&reply.body[..reply.body.len().min(4 * EXCERPT_CHARS)]);
    let line: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(EXCERPT_CHARS).collect();
    let line = line.trim();
    if line.is_empty() { String::new() } else { format!(": {line}") }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::stamps::PlacedStamps;
    use super::*;

    fn reply(status: u16, body: &'static str) -> Result<PeerReply, TransportError> {
        let body = Bytes::from_static(body.as_bytes());
        let (content_type, stamps) = (Some("text/html".to_owned()), PlacedStamps::default());
        Ok(PeerReply { status, content_type, body, identity: None, clock: None, stamps })
    }

    #[test]
    fn every_answer_has_one_meaning() {
        let list = r#"{"responseList":[{"statusCode":200},{"statusCode":404}]}"#;
        let cases = [
            (reply(200, list), "Answered"),
            (reply(200, r#"{"responseList":[{"statusCode":200}]}"#), "Failed(Refusing)"),
            (reply(200, "<html>log in</html>"), "Failed(Refusing)"),
            (reply(200, ""), "Failed(Refusing)"),
            (reply(204, ""), "Failed(Refusing)"),
            (reply(307, ""), "Failed(Refusing)"),
            (reply(401, ""), "Failed(Refusing)"),
            (reply(403, ""), "Failed(Refusing)"),
            (reply(404, ""), "Failed(Refusing)"),
            (reply(429, ""), "Failed(Refusing)"),
            (reply(502, "bad gateway"), "Failed(Refusing)"),
            (reply(504, ""), "Failed(Refusing)"),
            (reply(503, ""), "Failed(Congested)"),
            (reply(400, ""), "Rejected(400)"),
            (reply(413, ""), "Rejected(413)"),
            (reply(431, ""), "Rejected(431)"),
            (reply(500, ""), "Rejected(500)"),
            (Err(TransportError::Unreachable("refused".to_owned())), "Failed(Unreachable)"),
            (Err(TransportError::TimedOut("200 ms".to_owned())), "Failed(Congested)"),
            (Err(TransportError::Unreadable("too long".to_owned())), "Failed(Refusing)"),
        ];
        for (reply, expected) in cases {
            let (outcome, words) = outcome_of(&reply, 2, &Limits::default());
            assert!(format!("{outcome:?}").starts_with(expected), "{reply:?}: {outcome:?}");
            assert_eq!(words.is_none(), expected == "Answered", "{reply:?}");
        }
    }

    #[test]
    fn a_body_that_is_no_list_is_shown_in_one_short_line() {
        let long: &'static str = Box::leak(format!("line\r\n{}", "x".repeat(1_000)).into_boxed_str());
        let (_, words) = outcome_of(&reply(502, long), 1, &Limits::default());
        let words = words.unwrap();
        assert!(words.len() < 200 && !words.contains('\n'), "{words}");
    }
}
