//! The server: actix-web's own, with timeouts for inactive connections.

use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix_http::{HttpService, KeepAlive};
use actix_service::{IntoServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::dev::{AppConfig, Server};
use actix_web::rt::net::TcpStream;
use actix_web::{App, web};
use roadmap_domain::error::ErrorChain;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::connection::Connection;

/// How long a closing connection may continue to send an unread body.
const LINGER: Duration = Duration::from_secs(1);

/// Serves requests with one worker thread for each of `applications`, until `stop` is ready. Connections that are idle for
/// `keep_alive` between two requests are closed. Requests may take `shutdown_wait` after `stop`.
///
/// # Errors
/// The listener cannot be used.
pub fn serve<F: Fn(&mut web::ServiceConfig) + Clone + Send + 'static>(
    listener: TcpListener,
    applications: Vec<F>,
    stop: impl Future<Output = ()> + Send + 'static,
    (keep_alive, shutdown_wait): (Duration, Duration),
) -> io::Result<Server> {
    raise_open_files();
    let builder = Server::build().workers(applications.len()).shutdown_signal(stop);
    // In whole seconds, of which a part counts as one.
    let builder = builder.shutdown_timeout(shutdown_wait.as_millis().div_ceil(1_000).try_into().unwrap_or(u64::MAX));
    let stopping = builder.graceful_shutdown_signal();
    // Each worker gets its own application. A restarted worker gets the next one of the cycle.
    let applications = Arc::new(Mutex::new(applications.into_iter().cycle()));
    let address = listener.local_addr()?;
    let listening = builder.listen(format!("http-{address}"), listener, move || {
        let application = applications.lock().unwrap_or_else(PoisonError::into_inner).next();
        let app = App::new().configure(|config| application.iter().for_each(|configure| configure(config)));
        let app = app.into_factory().map_err(|error| error.error_response());
        let stopping = stopping.clone();
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .keep_alive(KeepAlive::Timeout(keep_alive))
            .client_disconnect_timeout(LINGER)
            .local_addr(address)
            .on_connect_ext(|connection: &Connection<TcpStream>, extensions| {
                extensions.insert(connection.tracker().clone());
            })
            .h1(map_config(app, |()| AppConfig::default()));
        fn_service(move |stream: TcpStream| async move {
            let peer = stream.peer_addr().ok();
            Ok((Connection::new(stream, keep_alive), peer))
        })
        .and_then(http)
    })?;
    Ok(listening.run())
}

/// Raises the limit of open files to the maximum, because each connection is an open file. Shells and systemd start
/// processes with 1,024, for programs that cannot handle more.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::warn!(error = %ErrorChain::new(&error), limit = limit.current, "the limit of open files could not be raised");
    }
}
