//! Many questions at once, without waiting for the slowest answer for ever.

use std::cell::RefCell;
use std::future::Future;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

/// The answers that came, and whether all have come.
#[derive(Debug, PartialEq, Eq)]
pub struct Gathered<T> {
    /// In the order in which they came.
    pub answers: Vec<T>,
    /// Everybody has answered, and nobody with nothing.
    pub is_complete: bool,
}

/// Waits for all answers; from the first one that suffices on for `grace` at most. `None` is no answer.
pub async fn gather<T>(
    questions: impl Iterator<Item = impl Future<Output = Option<T>>>,
    suffices: impl Fn(&T) -> bool,
    grace: Duration,
) -> Gathered<T> {
    let mut open: FuturesUnordered<_> = questions.collect();
    let mut gathered = Gathered { answers: Vec::with_capacity(open.len()), is_complete: true };
    let mut end = None;
    while !open.is_empty() {
        let next = async {
            match end {
                Some(end) => tokio::time::timeout_at(end, open.next()).await.ok(),
                None => Some(open.next().await),
            }
        };
        let Some(next) = next.await else {
            gathered.is_complete = false;
            break;
        };
        match next.flatten() {
            Some(answer) => {
                if end.is_none() && suffices(&answer) {
                    end = Some(tokio::time::Instant::now() + grace);
                }
                gathered.answers.push(answer);
            }
            None => gathered.is_complete = false,
        }
    }
    gathered
}

/// Asks each two questions, the second one when the first is answered; that one counts also if the second is not answered
/// within `grace`, or not before nobody is waited for any more.
pub async fn gather_both<Q, A, B>(
    whom: &[Q],
    first: impl AsyncFn(&Q) -> Option<A>,
    second: impl AsyncFn(&Q) -> Option<B>,
    suffices: impl Fn(&A) -> bool,
    grace: Duration,
) -> Gathered<(A, Option<B>)> {
    let answers: Vec<_> = whom.iter().map(|_| RefCell::new(None::<(A, Option<B>)>)).collect();
    let (first, second, suffices) = (&first, &second, &suffices);
    let questions = whom.iter().zip(&answers).map(|(who, kept)| async move {
        let answer = first(who).await?;
        let is_enough = suffices(&answer);
        kept.replace(Some((answer, None)));
        let more = tokio::time::timeout(grace, second(who)).await.ok().flatten();
        if let Some((_, kept)) = kept.borrow_mut().as_mut() {
            *kept = more;
        }
        Some(is_enough)
    });
    let is_complete = gather(questions, |is_enough| *is_enough, grace).await.is_complete;
    Gathered { answers: answers.into_iter().filter_map(RefCell::into_inner).collect(), is_complete }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(5);

    /// Answers after so many seconds; `None` is no answer.
    async fn gather_all(answers: &[(u64, Option<u64>)]) -> (Gathered<u64>, u64) {
        let started = tokio::time::Instant::now();
        let questions = answers.iter().map(|(secs, answer)| async move {
            tokio::time::sleep(Duration::from_secs(*secs)).await;
            *answer
        });
        let gathered = gather(questions, |answer| *answer > 0, GRACE).await;
        (gathered, started.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_waited_for_long_after_an_answer_that_suffices() {
        let (gathered, secs) = gather_all(&[(3600, Some(9)), (1, Some(0)), (2, Some(7)), (6, Some(8))]).await;
        assert_eq!(gathered, Gathered { answers: vec![0, 7, 8], is_complete: false });
        assert_eq!(secs, 7);
    }

    #[tokio::test(start_paused = true)]
    async fn while_nothing_suffices_everybody_is_waited_for() {
        let (gathered, secs) = gather_all(&[(60, Some(9)), (1, Some(0)), (2, None)]).await;
        assert_eq!(gathered, Gathered { answers: vec![0, 9], is_complete: false });
        assert_eq!(secs, 60);
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_when_all_have_answered() {
        let (gathered, secs) = gather_all(&[(1, Some(1)), (3, Some(0))]).await;
        assert_eq!((gathered, secs), (Gathered { answers: vec![1, 0], is_complete: true }, 3));
        let (nobody, secs) = gather_all(&[]).await;
        assert_eq!((nobody, secs), (Gathered { answers: vec![], is_complete: true }, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_to_the_first_question_counts_also_if_there_is_none_to_the_second() {
        let after = async |secs: u64| tokio::time::sleep(Duration::from_secs(secs)).await;
        let started = tokio::time::Instant::now();
        // Seconds to the answer to each question.
        let whom = [(1, 3600), (2, 0), (3600, 0), (3, 1)];
        let first = async |(secs, _): &(u64, u64)| {
            after(*secs).await;
            Some(*secs)
        };
        let second = async |(secs, more): &(u64, u64)| {
            after(*more).await;
            Some(10 * secs)
        };
        let gathered = gather_both(&whom, first, second, |answer| *answer > 1, GRACE).await;
        assert_eq!(gathered.answers, [(1, None), (2, Some(20)), (3, Some(30))]);
        assert_eq!((gathered.is_complete, started.elapsed().as_secs()), (false, 7));
        let hangs = gather_both(&[(1, 3600)], first, second, |_| true, GRACE).await;
        assert_eq!(
            (hangs.answers, started.elapsed().as_secs()),
            (vec![(1, None)], 13),
            "nobody waits for it alone"
        );
    }
}
