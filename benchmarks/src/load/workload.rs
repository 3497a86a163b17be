//! What is sent: requests by number, and the status that counts as an answer.

/// A series of requests.
pub trait Workload {
    /// The whole request with a number. `scratch` is room for requests that are not kept ready.
    fn request<'a>(&'a self, number: u64, scratch: &'a mut Vec<u8>) -> &'a [u8];

    /// The status of the right answer; anything else counts as a failure.
    fn expected_status(&self) -> u16;
}

/// Requests made beforehand, sent round and round.
#[derive(Clone, Debug)]
pub struct Prepared {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    expected_status: u16,
}

impl Prepared {
    /// No requests yet.
    #[must_use]
    pub fn new(expected_status: u16) -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), expected_status }
    }

    /// One request, over and over.
    pub fn single(expected_status: u16, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut prepared = Self::new(expected_status);
        prepared.add(write);
        prepared
    }

    /// Adds what `write` appends as one request.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// Number of different requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// One of the requests, by position.
    #[must_use]
    pub fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }
}

impl Workload for Prepared {
    fn request<'a>(&'a self, number: u64, _: &'a mut Vec<u8>) -> &'a [u8] {
        self.get((number % self.ends.len() as u64) as usize)
    }

    fn expected_status(&self) -> u16 {
        self.expected_status
    }
}

/// Requests written when they are sent.
pub struct Generated<F> {
    /// Appends the request with a number.
    pub write: F,
    /// The status of the right answer.
    pub expected_status: u16,
}

impl<F: Fn(u64, &mut Vec<u8>)> Workload for Generated<F> {
    fn request<'a>(&'a self, number: u64, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        scratch.clear();
        (self.write)(number, scratch);
        scratch
    }

    fn expected_status(&self) -> u16 {
        self.expected_status
    }
}
