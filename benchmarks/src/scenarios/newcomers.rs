//! Registrations of instances that the server does not know.

use std::rc::Rc;

use anyhow::ensure;

use super::Plan;
use super::operations::Operation;
use super::setup::{self, CONNECTIONS};
use crate::fleet::Fleet;
use crate::load::{Workload, send_all};
use crate::measure::Side;
use crate::report::Figure;
use crate::servers::Server;

/// Registers new instances with both servers in turn and cancels them in between, which does not count.
///
/// # Errors
/// If a server fails.
async fn measure<'a>(plan: &Plan, ours: &'a Server, theirs: &'a Server) -> anyhow::Result<[Side<'a>; 2]> {
    let fleet = Fleet::new(plan.seed ^ 17, plan.count(4_000, 20_000)).of_others();
    let registrations = setup::registrations(&fleet, plan.seed, 0);
    let cancels = setup::cancels(&fleet);
    let count = fleet.len() as u64;
    let mut sides = [
        Side::new(ours, CONNECTIONS, registrations.clone()).await?,
        Side::new(theirs, CONNECTIONS, registrations).await?,
    ];
    for round in 0..=plan.rhythm.rounds {
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for side in order {
            let side = &mut sides[side];
            side.run_times(count).await?;
            cancel(side, &cancels, count).await?;
            if round == 0 {
                side.forget();
            }
        }
    }
    Ok(sides)
}

/// The bare handlers have nothing to cancel.
async fn cancel(side: &mut Side<'_>, cancels: &Rc<dyn Workload>, count: u64) -> anyhow::Result<()> {
    if side.server.name.starts_with("actix-web") {
        return Ok(());
    }
    let outcome = send_all(&mut side.pool, cancels, count).await?;
    ensure!(outcome.failed() == 0, "{}: cancels: {:?}", side.server.name, outcome.failures);
    Ok(())
}

/// Beside a handler that reads the body and does nothing.
///
/// # Errors
/// If a server fails.
pub async fn against_baseline(plan: &Plan, ours: &Server) -> anyhow::Result<Figure> {
    let bare = plan.launcher.baseline(Operation::Register.baseline())?;
    let [our, their] = measure(plan, ours, &bare).await?;
    let least = Operation::Register.goals().of_baseline;
    Ok(Figure::against("register, new instances, against actix-web", &our, &their, least))
}

/// Beside Java.
///
/// # Errors
/// If a server fails.
pub async fn against_java(plan: &Plan, ours: &Server, java: &Server) -> anyhow::Result<Figure> {
    let [our, their] = measure(plan, ours, java).await?;
    let least = Operation::Register.goals().of_java;
    Ok(Figure::times("register, new instances, against Java", &our, &their, least))
}
