//! `heureka config` and `heureka check`.

use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, Write};

use heureka_config::{Loaded, Notice};

/// Prints every effective setting with its source. Secrets are masked by the settings themselves. What deserves attention
/// goes to the standard error, so that the output stays a list of settings.
pub(super) fn print(loaded: &Loaded) -> anyhow::Result<()> {
    loaded.report.warnings().for_each(|notice| eprintln!("{}", line(notice)));
    print_lines(loaded.report.effective())
}

/// Says what was found; what stops a node from starting besides its settings is checked too.
pub(super) fn check(loaded: &Loaded) -> anyhow::Result<()> {
    print_lines(&[loaded.report.places()])?;
    print_lines(&loaded.report.notices.iter().map(line).collect::<Vec<_>>())?;
    if let Some(tls) = &loaded.settings.server.tls {
        crate::tls::server_config(tls)?;
    }
    print_lines(&["the configuration is valid"])
}

fn line(notice: &Notice) -> String {
    format!("{}: {notice}", notice.severity)
}

/// One line each. A reader that has seen enough (`| head`) is no error.
fn print_lines(lines: &[impl Display]) -> anyhow::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = lines.iter().try_for_each(|line| writeln!(out, "{line}")).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
