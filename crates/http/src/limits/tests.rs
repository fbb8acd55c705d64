//! Tests of the limits with a manual stopwatch.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use actix_web::ResponseError;
use actix_web::http::header::RETRY_AFTER;
use roadmap_domain::model::api_key::{ApiKey, Scopes};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use uuid::Uuid;

/// A stopwatch that changes only when it is advanced.
#[derive(Default)]
struct ManualStopwatch(AtomicU64);

impl Stopwatch for ManualStopwatch {
    fn elapsed(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }
}

impl ManualStopwatch {
    fn advance(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_micros()).unwrap(), Ordering::Relaxed);
    }
}

fn rate(requests: u32, seconds: u64, burst: u32) -> Option<Rate> {
    let [requests, burst] = [requests, burst].map(|number| NonZeroU32::new(number).unwrap());
    Some(Rate::new(requests, Duration::from_secs(seconds), burst).unwrap())
}

const NO_RATES: Rates =
    Rates { key: None, workspace: None, failures: None, anonymous: None, sign_in: None, posts: None };

fn limits(key: Option<Rate>, workspace: Option<Rate>, failures: Option<Rate>) -> (RateLimits, Arc<ManualStopwatch>) {
    let set = Arc::new(ManualStopwatch::default());
    let stopwatch: Arc<dyn Stopwatch> = set.clone();
    (RateLimits::new(Rates { key, workspace, failures, ..NO_RATES }, &stopwatch), set)
}

/// A caller with this key of this workspace.
fn caller(workspace: u128, key: u128) -> Credential {
    let at = Timestamp::from_millis(0).unwrap();
    Credential {
        workspace: Workspace {
            id: WorkspaceId::new(Uuid::from_u128(workspace)),
            subdomain: Subdomain::from_label("acme").unwrap(),
        },
        key: ApiKey {
            id: ApiKeyId::new(Uuid::from_u128(key)),
            name: Name::from_stored("ci".to_owned()),
            last_four: "abcd".to_owned(),
            scopes: Scopes::ALL,
            created_at: at,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
            made_by: None,
        },
    }
}

/// Returns the values of both limit headers, and of `Retry-After` if the request is rejected.
fn headers_and_retry_after(admission: &Admission) -> (Vec<String>, Option<String>) {
    let mut headers = HeaderMap::new();
    admission.write_headers(&mut headers);
    let values =
        [RATE_LIMIT_POLICY, RATE_LIMIT].map(|name| headers.get(name).map(|value| value.to_str().unwrap().to_owned()));
    (values.into_iter().flatten().collect(), retry_after(admission.check()))
}

fn retry_after(outcome: Result<(), HttpError>) -> Option<String> {
    let response = outcome.err()?.error_response();
    assert_eq!(response.status(), 429);
    Some(response.headers().get(RETRY_AFTER).unwrap().to_str().unwrap().to_owned())
}

fn address(raw: &str) -> IpAddr {
    raw.parse().unwrap()
}

/// Beyond the contract: a limit is exact to 5 % over 12,000 requests; a rejected request consumes nothing; waiting for
/// `Retry-After` is sufficient.
/// Contract 8.
#[test]
fn a_limit_is_accurate_to_five_percent_at_every_pace() {
    let mut worst = 0_f64;
    for (requests, seconds, burst) in [(600, 60, 600), (600, 60, 2), (10, 1, 100), (7, 1, 3), (36_000, 3_600, 50)] {
        for pace in [1_u64, 7, 20, 99] {
            let (limits, stopwatch) = limits(rate(requests, seconds, burst), None, None);
            let caller = caller(1, 1);
            let (mut made, mut admitted) = (0_u32, 0_u32);
            // 12,000 requests, so that the burst is a small part of them or all of them are admitted.
            while made < 12_000 {
                admitted += u32::from(limits.admit(&caller).check().is_ok());
                made += 1;
                stopwatch.advance(Duration::from_millis(pace));
            }
            let passed = stopwatch.elapsed().as_secs_f64();
            let filled = f64::from(requests) / f64::from(u32::try_from(seconds).unwrap()) * passed;
            let exact = (f64::from(burst) + filled).min(f64::from(made));
            let error = (f64::from(admitted) - exact).abs() / exact;
            assert!(
                error <= 0.05,
                "{requests} in {seconds} s, burst {burst}, every {pace} ms: {admitted}, not {exact}"
            );
            worst = worst.max(error);
        }
    }
    println!("20 limits and paces, 12,000 requests each: at most {:.2} % off", 100.0 * worst);
}

#[test]
fn a_burst_is_available_at_once_and_again_after_the_refill_time() {
    let (limits, stopwatch) = limits(rate(60, 60, 3), None, None);
    let caller = caller(1, 1);
    let policy = "\"default\";q=3;w=3";
    for (state, wait) in [("r=2;t=1", None), ("r=1;t=1", None), ("r=0;t=1", None), ("r=0;t=1", Some("1"))] {
        let (headers, retry_after) = headers_and_retry_after(&limits.admit(&caller));
        assert_eq!(headers, [policy.to_owned(), format!("\"default\";{state}")]);
        assert_eq!(retry_after.as_deref(), wait);
    }
    // A fraction of a second is not enough and is reported as a whole second.
    stopwatch.advance(Duration::from_millis(999));
    assert_eq!(headers_and_retry_after(&limits.admit(&caller)).1.as_deref(), Some("1"));
    stopwatch.advance(Duration::from_millis(1));
    assert_eq!(headers_and_retry_after(&limits.admit(&caller)).1, None);
    stopwatch.advance(Duration::from_secs(3_600));
    assert_eq!(headers_and_retry_after(&limits.admit(&caller)).0[1], "\"default\";r=2;t=1");
}

/// Beyond the contract.
#[test]
fn retry_after_is_exact_to_a_second() {
    let (limits, stopwatch) = limits(rate(6, 60, 2), None, None);
    let caller = caller(1, 1);
    for _ in 0..2 {
        assert_eq!(headers_and_retry_after(&limits.admit(&caller)).1, None);
    }
    stopwatch.advance(Duration::from_millis(2_500));
    let (headers, retry_after) = headers_and_retry_after(&limits.admit(&caller));
    assert_eq!((headers[1].as_str(), retry_after.as_deref()), ("\"default\";r=0;t=8", Some("8")));
    stopwatch.advance(Duration::from_secs(7));
    assert_eq!(headers_and_retry_after(&limits.admit(&caller)).1.as_deref(), Some("1"));
    stopwatch.advance(Duration::from_secs(1));
    assert_eq!(headers_and_retry_after(&limits.admit(&caller)).1, None);
}

/// Beyond the contract.
#[test]
fn keys_share_the_limit_of_their_workspace_and_no_other() {
    let (limits, stopwatch) = limits(rate(60, 60, 4), rate(60, 60, 6), None);
    let ok = |workspace, key| limits.admit(&caller(workspace, key)).check().is_ok();
    assert_eq!((0..5).map(|_| ok(1, 1)).collect::<Vec<_>>(), [true, true, true, true, false]);
    // The rejected request was not counted: two of the workspace's six are left.
    assert_eq!((0..3).map(|_| ok(1, 2)).collect::<Vec<_>>(), [true, true, false]);
    let (headers, retry_after) = headers_and_retry_after(&limits.admit(&caller(1, 2)));
    let policies = "\"default\";q=4;w=4, \"workspace\";q=6;w=6";
    assert_eq!(headers, [policies, "\"default\";r=2;t=1, \"workspace\";r=0;t=1"]);
    assert_eq!(retry_after.as_deref(), Some("1"));
    let (headers, retry_after) = headers_and_retry_after(&limits.admit(&caller(2, 3)));
    assert_eq!(headers, [policies, "\"default\";r=3;t=1, \"workspace\";r=5;t=1"]);
    assert_eq!(retry_after, None);
    stopwatch.advance(Duration::from_secs(1));
    assert_eq!([ok(1, 2), ok(1, 1)], [true, false]);
}

#[test]
fn a_full_bucket_reports_no_refill_time() {
    let (limits, stopwatch) = limits(rate(6, 60, 1), rate(60, 60, 2), None);
    assert_eq!(
        headers_and_retry_after(&limits.admit(&caller(1, 1))).0[1],
        "\"default\";r=0;t=10, \"workspace\";r=1;t=1"
    );
    stopwatch.advance(Duration::from_secs(4));
    assert_eq!(headers_and_retry_after(&limits.admit(&caller(1, 1))).0[1], "\"default\";r=0;t=6, \"workspace\";r=2");
}

/// Beyond the contract.
#[test]
fn a_rejected_request_consumes_nothing() {
    let (limits, stopwatch) = limits(rate(60, 60, 1), None, None);
    let caller = caller(1, 1);
    assert!(limits.admit(&caller).check().is_ok());
    for _ in 0..10_000 {
        assert!(limits.admit(&caller).check().is_err());
    }
    stopwatch.advance(Duration::from_secs(1));
    assert!(limits.admit(&caller).check().is_ok());
}

#[test]
fn a_disabled_limit_limits_nothing_and_writes_no_header() {
    let (limits, _) = limits(None, rate(60, 60, 2), None);
    assert_eq!(
        headers_and_retry_after(&limits.admit(&caller(1, 1))).0,
        ["\"workspace\";q=2;w=2", "\"workspace\";r=1;t=1"]
    );
    let off = RateLimits::disabled();
    for _ in 0..10_000 {
        assert_eq!(headers_and_retry_after(&off.admit(&caller(1, 1))), (vec![], None));
        assert!(off.record_failure(address("192.0.2.1")).is_ok());
        assert_eq!(headers_and_retry_after(&off.admit_anonymous(address("192.0.2.1"))), (vec![], None));
        assert!(off.admit_sign_in(address("192.0.2.1")).is_ok());
        assert!(off.admit_post(workspace(1), &person("ann@example.com"), PostWeight::Idea).is_ok());
    }
}

/// Beyond the contract.
#[test]
fn failures_are_counted_for_each_address_and_network() {
    let (limits, stopwatch) = limits(None, None, rate(60, 60, 3));
    let fail = |from: &str| retry_after(limits.record_failure(address(from)));
    for from in ["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1"] {
        assert_eq!(fail(from), None, "{from}");
    }
    assert_eq!(fail("192.0.2.1").as_deref(), Some("1"));
    assert_eq!(fail("::ffff:192.0.2.1").as_deref(), Some("1"));
    assert_eq!(fail("192.0.2.2"), None);
    for host in 1..=3 {
        assert_eq!(fail(&format!("2001:db8:0:1::{host}")), None);
    }
    assert_eq!(fail("2001:db8:0:1:ffff::4").as_deref(), Some("1"));
    assert_eq!(fail("2001:db8:0:2::1"), None);
    stopwatch.advance(Duration::from_secs(1));
    assert_eq!(fail("192.0.2.1"), None);
    assert_eq!(fail("192.0.2.1").as_deref(), Some("1"));
}

#[test]
fn anonymous_requests_are_limited_by_network() {
    let stopwatch = Arc::new(ManualStopwatch::default());
    let rates = Rates { key: rate(60, 60, 1), failures: rate(60, 60, 1), anonymous: rate(6, 60, 2), ..NO_RATES };
    let limits = RateLimits::new(rates, &(stopwatch.clone() as Arc<dyn Stopwatch>));
    let admit = |from: &str| headers_and_retry_after(&limits.admit_anonymous(address(from)));
    let policy = "\"anonymous\";q=2;w=20";
    for (from, state, wait) in [
        ("192.0.2.1", "r=1;t=10", None),
        ("::ffff:192.0.2.1", "r=0;t=10", None),
        ("192.0.2.1", "r=0;t=10", Some("10")),
        ("192.0.2.2", "r=1;t=10", None),
        ("2001:db8:0:1::1", "r=1;t=10", None),
        ("2001:db8:0:1::2", "r=0;t=10", None),
        ("2001:db8:0:1::3", "r=0;t=10", Some("10")),
    ] {
        let (headers, retry_after) = admit(from);
        assert_eq!(headers, [policy.to_owned(), format!("\"anonymous\";{state}")], "{from}");
        assert_eq!(retry_after.as_deref(), wait, "{from}");
    }
    // The limits do not affect each other.
    assert!(limits.record_failure(address("192.0.2.1")).is_ok() && limits.admit(&caller(1, 1)).check().is_ok());
    stopwatch.advance(Duration::from_secs(10));
    assert_eq!(admit("192.0.2.1").1, None);
}

#[test]
fn sign_ins_are_limited_by_network() {
    let stopwatch = Arc::new(ManualStopwatch::default());
    let rates = Rates { sign_in: rate(60, 3_600, 2), ..NO_RATES };
    let limits = RateLimits::new(rates, &(stopwatch.clone() as Arc<dyn Stopwatch>));
    let sign_in = |from: &str| retry_after(limits.admit_sign_in(address(from)));
    for (from, wait) in [
        ("192.0.2.1", None),
        ("::ffff:192.0.2.1", None),
        ("192.0.2.1", Some("60")),
        ("192.0.2.2", None),
        ("2001:db8:0:1::1", None),
        ("2001:db8:0:1::2", None),
        ("2001:db8:0:1::3", Some("60")),
    ] {
        assert_eq!(sign_in(from).as_deref(), wait, "{from}");
    }
    // The rejected ones were not counted.
    stopwatch.advance(Duration::from_secs(60));
    assert_eq!(sign_in("192.0.2.1"), None);
    // Other limits are not affected.
    assert!(limits.record_failure(address("192.0.2.1")).is_ok());
    assert_eq!(headers_and_retry_after(&limits.admit_anonymous(address("192.0.2.1"))), (vec![], None));
}

#[test]
fn the_wider_networks_of_an_address_are_limited_too() {
    let stopwatch = Arc::new(ManualStopwatch::default());
    let rates = Rates { sign_in: rate(60, 3_600, 10), ..NO_RATES };
    let limits = RateLimits::new(rates, &(stopwatch.clone() as Arc<dyn Stopwatch>));
    // As often as possible from 64 networks each: 40 from a /56, and 160 from a /48.
    let admitted = |network: &dyn Fn(u16) -> String| {
        let addresses = (0..64).flat_map(|number| vec![address(&network(number)); 10]);
        addresses.filter(|address| limits.admit_sign_in(*address).is_ok()).count()
    };
    assert_eq!(admitted(&|number| format!("2001:db8:1:{number:x}::1")), 40);
    assert_eq!(admitted(&|number| format!("2001:db8:1:{:x}::1", 0x100 + number * 0x100)), 120);
    assert_eq!(admitted(&|number| format!("2001:db8:1:{:x}::1", 0x8000 + number)), 0);
    // Others are not affected.
    assert!(limits.admit_sign_in(address("2001:db8:2::1")).is_ok());
    assert_eq!(admitted(&|number| format!("192.0.2.{number}")), 640);
    // The rejected ones were counted by no network.
    stopwatch.advance(Duration::from_secs(60));
    assert!(limits.admit_sign_in(address("2001:db8:1:ff00::1")).is_ok());
}

fn workspace(number: u128) -> WorkspaceId {
    WorkspaceId::new(Uuid::from_u128(number))
}

fn person(address: &str) -> FoldedEmail {
    EmailAddress::parse("email", address).unwrap().folded().clone()
}

#[test]
fn posts_are_limited_by_person_and_weight() {
    use PostWeight::{Comment, Idea, Toggle};
    let stopwatch = Arc::new(ManualStopwatch::default());
    let limits =
        RateLimits::new(Rates { posts: rate(20, 3_600, 20), ..NO_RATES }, &(stopwatch.clone() as Arc<dyn Stopwatch>));
    let post = |number, of: &str, weight| retry_after(limits.admit_post(workspace(number), &person(of), weight));
    // Five ideas, or four ideas, three comments and four votes.
    for _ in 0..5 {
        assert_eq!(post(1, "ann@example.com", Idea), None);
    }
    for (weight, wait) in [(Idea, "720"), (Comment, "180"), (Toggle, "45")] {
        assert_eq!(post(1, "Ann@Example.com", weight).as_deref(), Some(wait), "{weight:?}");
    }
    let posts = [[Idea; 4], [Comment, Comment, Comment, Toggle]].concat();
    for weight in posts.into_iter().chain([Toggle; 3]) {
        assert_eq!(post(1, "bob@example.com", weight), None);
    }
    assert_eq!(post(1, "bob@example.com", Toggle).as_deref(), Some("45"));
    // Somebody is another person in another workspace.
    assert_eq!(post(2, "ann@example.com", Idea), None);
    stopwatch.advance(Duration::from_secs(720));
    assert_eq!(post(1, "ann@example.com", Idea), None);
    assert_eq!(post(1, "ann@example.com", Comment).as_deref(), Some("180"));
}

#[test]
fn a_post_that_weighs_more_than_a_burst_needs_a_full_bucket() {
    let stopwatch = Arc::new(ManualStopwatch::default());
    let limits =
        RateLimits::new(Rates { posts: rate(3, 3_600, 3), ..NO_RATES }, &(stopwatch.clone() as Arc<dyn Stopwatch>));
    let post = |weight| retry_after(limits.admit_post(workspace(1), &person("ann@example.com"), weight));
    assert_eq!(post(PostWeight::Idea), None);
    assert_eq!(post(PostWeight::Idea).as_deref(), Some("3600"));
    stopwatch.advance(Duration::from_secs(3_600));
    assert_eq!(post(PostWeight::Idea), None);
}

/// Beyond the contract.
#[test]
fn many_threads_get_no_more_than_the_limit() {
    let (limits, _) = limits(rate(60, 60, 1_000), None, None);
    let caller = caller(1, 1);
    let admitted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| (0..500).filter(|_| limits.admit(&caller).check().is_ok()).count()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(admitted, 1_000);
}

#[test]
fn full_buckets_are_swept_when_their_number_has_doubled() {
    let (limits, stopwatch) = limits(None, None, rate(60, 60, 60));
    // Returns the number of buckets after one failure from each address. A bucket can be removed two seconds later.
    let buckets = |addresses: std::ops::Range<u32>| {
        addresses.for_each(|address| limits.record_failure(IpAddr::V4(address.into())).unwrap());
        limits.failures.as_ref().unwrap().len()
    };
    assert_eq!(buckets(0..1_023), 1_023);
    stopwatch.advance(Duration::from_secs(2));
    assert_eq!(buckets(1_023..1_024), 1_024);
    assert_eq!(buckets(1_024..1_025), 2);
    assert_eq!(buckets(2_000..3_023), 1_025);
    stopwatch.advance(Duration::from_secs(2));
    assert_eq!(buckets(4_000..5_025), 2_050);
    assert_eq!(buckets(5_025..5_026), 1_026);
}

/// Beyond the contract.
#[test]
fn full_buckets_are_removed() {
    let (limits, stopwatch) = limits(None, None, rate(60, 60, 60));
    let failures = limits.failures.as_ref().unwrap();
    let mut peak = 0;
    for number in 0..200_000_u32 {
        limits.record_failure(IpAddr::V4(number.into())).unwrap();
        stopwatch.advance(Duration::from_millis(1));
        peak = peak.max(failures.len());
    }
    // A thousand addresses fail per second, and each bucket refills within one second.
    assert!((1_000..=6_000).contains(&peak), "{peak} of 200000 are kept");
    // A bucket that is not full is kept.
    let busy = address("192.0.2.1");
    while limits.record_failure(busy).is_ok() {}
    for number in 0..10_000_u32 {
        limits.record_failure(IpAddr::V4(number.into())).unwrap();
    }
    assert!(limits.record_failure(busy).is_err());
}
