//! A failure that is looked at again and again is told once, until it is another one or over.

use super::source::SourceError;

/// The failure that was told last.
#[derive(Debug, Default)]
pub struct Complaint(Option<SourceError>);

impl Complaint {
    /// True if this failure has not been told; it has from now on.
    pub fn is_new(&mut self, error: &SourceError) -> bool {
        let is_new = self.0.as_ref() != Some(error);
        self.0 = Some(error.clone());
        is_new
    }

    /// True if a failure was told and is over now.
    pub fn is_settled(&mut self) -> bool {
        self.0.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_new_once() {
        let (mut complaint, error) = (Complaint::default(), |text: &str| SourceError(text.to_owned()));
        assert!(!complaint.is_settled());
        assert!(complaint.is_new(&error("a")) && !complaint.is_new(&error("a")));
        assert!(complaint.is_new(&error("b")) && complaint.is_new(&error("a")));
        assert!(complaint.is_settled() && !complaint.is_settled());
        assert!(complaint.is_new(&error("a")));
    }
}
