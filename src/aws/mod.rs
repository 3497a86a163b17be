//! The parts that concern Amazon (spec `replication.md` 8): auto-scaling groups that operators or the cloud switch off, and
//! with them all their instances. Off unless `heureka.asg.enabled` is set; nothing here asks the cloud unless this program
//! was built with the feature `aws`.

#[cfg(feature = "aws")]
mod describe;
mod groups;
#[cfg(feature = "aws")]
mod signature;

pub use groups::{GroupSource, Groups, Loading};

use std::sync::Arc;

use heureka_config::Settings;

/// Whoever knows the state of groups; `None` if only operators do.
///
/// # Errors
/// If the settings ask for the cloud and lack something that it needs.
pub fn source(settings: &Settings) -> anyhow::Result<Option<Arc<dyn GroupSource>>> {
    let asg = &settings.registry.asg;
    if !asg.enabled || !asg.asks_cloud {
        return Ok(None);
    }
    #[cfg(feature = "aws")]
    return Ok(Some(Arc::new(describe::AutoScaling::new(settings)?)));
    #[cfg(not(feature = "aws"))]
    {
        tracing::info!(
            "auto-scaling groups are as operators set them: this program was built without the feature aws"
        );
        Ok(None)
    }
}
