//! A thread for work that may hang, such as reading from a file system whose server is gone. Whoever asks waits for a limited
//! time; what hangs holds this thread and nothing else.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

type Work = Box<dyn FnOnce() + Send>;

/// The thread. It ends when nobody can ask it any more and its last piece of work is done.
#[derive(Clone, Debug)]
pub struct Aside {
    work: SyncSender<Work>,
    patience: Duration,
}

impl Aside {
    /// Starts it; who asks waits so long at most.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub fn start(name: &str, patience: Duration) -> io::Result<Self> {
        // One piece may wait. It is what tells that the thread works again; more of them would only be done for nobody.
        let (work, queue): (_, Receiver<Work>) = sync_channel(1);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || queue.into_iter().for_each(|work| work()))?;
        Ok(Self { work, patience })
    }

    /// What comes of a piece of work; `None` if it takes too long, or if what came before it does.
    pub async fn ask<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (sender, answer) = oneshot::channel();
        // Nobody may be waiting any more.
        let work = move || drop(sender.send(work()));
        self.work.try_send(Box::new(work)).ok()?;
        timeout(self.patience, answer).await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[actix_web::test]
    async fn who_asks_is_not_held_by_what_hangs_and_is_answered_again_afterwards() {
        let aside = Aside::start("aside", Duration::from_millis(20)).expect("a thread");
        let (release, held) = channel::<()>();
        assert_eq!(aside.ask(move || held.recv().is_ok()).await, None, "it hangs");
        assert_eq!(aside.ask(|| 1).await, None, "and so does what comes behind it");
        assert_eq!(aside.ask(|| 2).await, None, "for which there is no room");
        release.send(()).expect("still held");
        // However slow the machine: one of them is in time.
        while aside.ask(|| 3).await != Some(3) {}
    }
}
