//! Moving many feature requests at once in the admin panel.

use std::time::Instant;

use anyhow::{bail, ensure};

use super::data::tracks;
use super::report::print_times;
use crate::load::{Latencies, Service, block_on};

pub(super) const NAME: &str = "triage";

/// Number of feature requests that are moved at once, and the highest time that it may take, in milliseconds.
const SELECTED: usize = 100;
const TARGET: f64 = 100.0;

/// Moves many feature requests at once, to and fro, and prints how long it takes.
pub(super) fn measure(service: &Service) -> anyhow::Result<()> {
    let mut times = Vec::new();
    block_on(async {
        let mut connection = service.connect().await?;
        let tracks = tracks(&mut connection).await?;
        let [one, other, ..] = tracks.as_slice() else { bail!("there are fewer than two tracks") };
        let mut selected = Vec::new();
        for page in 1.. {
            let path = format!("/tracks/{one}/feature_requests?sort=newest&page={page}");
            connection.expect("GET", &path, "", 200).await?;
            let ids = connection.ids("feature_requests")?;
            if ids.is_empty() || selected.len() >= SELECTED {
                break;
            }
            selected.extend(ids);
        }
        selected.truncate(SELECTED);
        let selection: String = selected.iter().map(|id| format!("id={id}&")).collect();
        for round in 0..20 {
            let track = if round % 2 == 0 { other } else { one };
            let body = format!("{selection}track={track}&action=move");
            let began = Instant::now();
            let status = connection.request_with("POST", "/admin/triage", &service.session, &body).await?;
            times.push(began.elapsed());
            ensure!(status == 303, "moving {} feature requests returned {status}", selected.len());
        }
        Ok(())
    })?;
    print_times(&format!("{NAME}: moving {SELECTED} feature requests"), "", &Latencies::from_iter(times), TARGET);
    Ok(())
}
