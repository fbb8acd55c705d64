//! The table of paths and methods.

use actix_web::dev::HttpServiceFactory;
use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::{HttpResponse, Resource, Route, guard, web};

use roadmap_domain::error::RoadmapError;

use crate::error::ApiError;
use crate::state::State;
use crate::v1::{changelogs, comments, feature_requests, setting, track_moves, tracks, upvotes, voters, votes};
use crate::v2::attachments;
use crate::{caller, docs, files, host, middleware, unsubscribe};

/// Adds all routes to an application.
pub fn configure(config: &mut web::ServiceConfig, state: web::Data<State>) {
    config.app_data(state).service(
        web::scope("")
            .wrap(from_fn(host::check_host))
            .wrap(from_fn(middleware::instrument_request))
            .service(resource("/api/external/openapi.json", "GET, HEAD", [get(docs::document)]))
            .service(
                web::scope("/api/external")
                    .wrap(from_fn(caller::authenticate))
                    .service(v1())
                    .service(v2())
                    .default_service(not_found()),
            )
            .service(resource(
                "/healthz",
                "GET, HEAD",
                [get(|| async { HttpResponse::Ok().json(Health { status: "ok" }) })],
            ))
            .service(anonymous_resource("/blobs/{reference}/{filename}", "GET, HEAD", [get(files::blob)]))
            .service(anonymous_resource("/files/{reference}/{filename}", "GET, HEAD", [get(files::file)]))
            .service(anonymous_resource(
                "/unsubscribe/{reference}",
                "GET, HEAD, POST",
                [get(unsubscribe::show_form), web::post().to(unsubscribe::submit)],
            ))
            .service(resource("/api/docs", "GET, HEAD", [get(docs::page)]))
            .service(anonymous_resource("/readyz", "GET, HEAD", [get(ready)]))
            .default_service(not_found()),
    );
}

#[derive(serde::Serialize)]
struct Health {
    status: &'static str,
}

/// Whether calls can be answered: the store is asked.
async fn ready(state: web::Data<State>) -> Result<HttpResponse, ApiError> {
    state.health.check().await.map_err(RoadmapError::Store)?;
    Ok(HttpResponse::Ok().json(Health { status: "ok" }))
}

fn v1() -> impl HttpServiceFactory {
    web::scope("/v1")
        .service(resource(
            "/setting",
            "GET, HEAD, PATCH, PUT",
            [get(setting::show), web::patch().to(setting::update), web::put().to(setting::replace)],
        ))
        .service(resource("/votes", "GET, HEAD", [get(votes::index)]))
        .service(resource(
            "/feature_requests",
            "GET, HEAD, POST",
            [get(feature_requests::index), web::post().to(feature_requests::create)],
        ))
        .service(resource("/feature_requests/{id}/upvotes", "POST", [web::post().to(upvotes::create)]))
        .service(resource("/feature_requests/{id}/comments", "POST", [web::post().to(comments::create)]))
        .service(resource("/feature_requests/{id}/track", "PATCH", [web::patch().to(track_moves::update)]))
        .service(resource("/feature_requests/{id}/voters", "GET, HEAD", [get(voters::index)]))
        .service(resource("/tracks", "GET, HEAD", [get(tracks::index)]))
        .service(resource(
            "/changelogs",
            "GET, HEAD, POST",
            [get(changelogs::index), web::post().to(changelogs::create)],
        ))
        .default_service(not_found())
}

fn v2() -> impl HttpServiceFactory {
    web::scope("/v2")
        .service(resource("/attachments", "POST", [web::post().to(attachments::create)]))
        .default_service(not_found())
}

/// A path with its methods; any other method is answered with the list of them.
fn resource<const N: usize>(path: &str, methods: &'static str, routes: [Route; N]) -> Resource {
    let resource = routes.into_iter().fold(web::resource(path), Resource::route);
    resource
        .default_service(web::to(move || async move { Err::<HttpResponse, _>(ApiError::MethodNotAllowed(methods)) }))
}

/// A path that needs no key and asks the store or the storage: requests to it are counted by address.
fn anonymous_resource<const N: usize>(
    path: &str,
    methods: &'static str,
    routes: [Route; N],
) -> impl HttpServiceFactory {
    resource(path, methods, routes).wrap(from_fn(caller::admit_anonymous))
}

/// A route for GET, and so for HEAD, whose answer the server sends without its body.
fn get<F, Args>(handler: F) -> Route
where
    F: actix_web::Handler<Args>,
    Args: actix_web::FromRequest + 'static,
    F::Output: actix_web::Responder + 'static,
{
    web::route().guard(guard::Any(guard::Get()).or(guard::Method(Method::HEAD))).to(handler)
}

fn not_found() -> Route {
    web::to(|| async { Err::<HttpResponse, _>(ApiError::NotFound) })
}
