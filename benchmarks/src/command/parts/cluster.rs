//! Parts about several nodes.

use heureka_bench::fleet::Fleet;
use heureka_bench::scenarios::propagation::{self, Course};
use heureka_bench::scenarios::{cluster, outage, setup, waiting};
use heureka_bench::servers::Server;

use super::Run;

/// Longest wait until a filled node has told the others everything.
const SPREAD: std::time::Duration = std::time::Duration::from_secs(90);

impl Run<'_> {
    pub(super) async fn propagation(&mut self) -> anyhow::Result<()> {
        let plan = self.plan;
        let section = self.findings.begin(propagation::section());
        let nodes = plan.launcher.heureka_cluster(3, &[])?;
        self.propagate(&nodes, Course::of_ours(plan), section).await?;
        drop(nodes);
        // Its lists are half a minute old by design; that takes longer than the whole short run.
        if !plan.is_quick {
            let result = self.propagate_java(section).await;
            self.note_java("propagation", result);
        }
        Ok(())
    }

    async fn propagate_java(&mut self, section: usize) -> anyhow::Result<()> {
        let nodes = self.plan.launcher.java_cluster(2, &[])?;
        if nodes.is_empty() {
            return Ok(());
        }
        self.propagate(&nodes, Course::of_java(), section).await
    }

    async fn propagate(&mut self, nodes: &[Server], course: Course, section: usize) -> anyhow::Result<()> {
        let plan = self.plan;
        let fleet = Fleet::new(plan.seed, plan.instances);
        setup::fill(&nodes[0], &fleet).await?;
        // Java's lists are too old to say when it has everything; it has some seconds for that.
        for node in nodes[1..].iter().filter(|node| node.name != "Java") {
            waiting::until_same_hash(&nodes[0], node, SPREAD).await?;
        }
        let section = &mut self.findings.sections[section];
        let figures = propagation::between(plan, nodes, &fleet, course, section).await?;
        self.findings.figures.extend(figures);
        Ok(())
    }

    pub(super) async fn cluster(&mut self) -> anyhow::Result<()> {
        let plan = self.plan;
        let costs = self.findings.begin(cluster::section());
        let instances = plan.count(5_000, 10_000);
        let figure = cluster::of_heartbeats(plan, instances, &mut self.findings.sections[costs]).await;
        self.keep("cost of replication", figure);
        let outages = self.findings.begin(outage::section(plan));
        let instances = plan.count(5_000, 50_000);
        let figures = outage::of_peer(plan, instances, &mut self.findings.sections[outages]).await?;
        self.findings.figures.extend(figures);
        Ok(())
    }
}
