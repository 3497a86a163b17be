//! Requests behind requests: how many of one connection may wait for those before them.
//!
//! The HTTP library below decodes every request that it has read, and keeps each until those before it are answered, at
//! several KB each. A sender that reads no answers could make it hold thousands for every connection. So the stream below the library
//! stops reading while more than a few wait: the rest stays with the system, and then with the sender.
//!
//! A body that has begun is read to its end all the same: every request that waits is complete, and reading never stops while
//! somebody needs what comes next.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};

use actix_web::HttpRequest;

/// Requests that may wait. What was read together with the last of them comes on top, see [`READ_BYTES_MAX`].
const WAITING_MAX: usize = 16;
/// Most bytes that are read at once where requests begin: so many small requests can pass the bound together. Heads of
/// usual clients are far shorter.
pub const READ_BYTES_MAX: usize = 4096;

/// What the stream of a connection and the handlers of its requests tell each other.
#[derive(Debug, Default)]
pub struct Pipeline {
    waiting: Cell<usize>,
    reader: RefCell<Option<Waker>>,
}

impl Pipeline {
    /// The heads of so many requests have come.
    pub fn entered(&self, requests: usize) {
        self.waiting.set(self.waiting.get() + requests);
    }

    /// True if no further request must be read now; the task comes back when that changes.
    pub fn is_full(&self, cx: &Context<'_>) -> bool {
        let is_full = self.waiting.get() > WAITING_MAX;
        if is_full {
            *self.reader.borrow_mut() = Some(cx.waker().clone());
        }
        is_full
    }

    /// A request has its answer.
    pub fn answered(&self) {
        self.waiting.set(self.waiting.get().saturating_sub(1));
        if self.waiting.get() > WAITING_MAX {
            return;
        }
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

/// Notes that a request has its answer.
pub fn answered(request: &HttpRequest) {
    if let Some(pipeline) = request.conn_data::<Rc<Pipeline>>() {
        pipeline.answered();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use std::time::Duration;

    use futures_util::FutureExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::super::upgrade_offers::WithoutOffers;
    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn the_reader_comes_back_once_few_wait() {
        let (pipeline, wakes) = (Pipeline::default(), Arc::new(Wakes::default()));
        let waker = Arc::clone(&wakes).into();
        let cx = Context::from_waker(&waker);
        pipeline.entered(WAITING_MAX);
        assert!(!pipeline.is_full(&cx));
        pipeline.entered(2);
        assert!(pipeline.is_full(&cx));
        pipeline.answered();
        assert!(pipeline.is_full(&cx), "one too many still");
        assert_eq!(wakes.0.load(Ordering::SeqCst), 0);
        pipeline.answered();
        assert_eq!(wakes.0.load(Ordering::SeqCst), 1);
        assert!(!pipeline.is_full(&cx));
        pipeline.answered();
        assert_eq!(wakes.0.load(Ordering::SeqCst), 1, "nobody waits");
    }

    #[actix_web::test]
    async fn a_stream_is_read_as_far_as_a_few_requests_go() {
        let requests = b"GET / HTTP/1.1\r\nHost:x\r\n\r\n".repeat(5_000);
        let (mut sender, receiver) = duplex(requests.len());
        sender.write_all(&requests).await.expect("room");
        let mut stream = WithoutOffers::new(receiver, Duration::from_secs(60));
        let pipeline = Rc::clone(stream.pipeline());
        let (mut buffer, mut count) = ([0; 65_536], 0);
        let mut read_on = || {
            while let Some(read) = stream.read(&mut buffer).now_or_never() {
                count += read.expect("no error");
            }
            count
        };
        assert_eq!(read_on(), READ_BYTES_MAX);
        for _ in 0..5_000 {
            pipeline.answered();
            read_on();
        }
        assert_eq!(read_on(), requests.len());
    }

    #[actix_web::test]
    async fn long_bodies_are_read_in_large_pieces() {
        let (mut sender, receiver) = duplex(1 << 20);
        let head = b"POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n";
        sender.write_all(head).await.expect("room");
        sender.write_all(&[b'x'; 100_000]).await.expect("room");
        let mut stream = WithoutOffers::new(receiver, Duration::from_secs(60));
        let mut buffer = [0; 65_536];
        assert_eq!(stream.read(&mut buffer).await.expect("no error"), READ_BYTES_MAX);
        assert_eq!(stream.read(&mut buffer).await.expect("no error"), buffer.len());
    }
}
