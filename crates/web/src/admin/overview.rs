//! The overview: what has happened lately, and what waits.

use std::rc::Rc;

use askama::Template;
use fluent_bundle::FluentValue;
use roadmap_domain::model::admin::{InboxCounts, InboxState, Overview, Period, Week};
use roadmap_domain::model::feature_request::{FeatureRequestSummary, RequestLink};
use roadmap_domain::model::member::Role;
use roadmap_domain::model::time_zone::TimeZone;
use roadmap_domain::usecase::query::admin::{ShowMail, ShowUsedUpSignIns};
use roadmap_http::error::HttpError;

use crate::admin::inbox::{state_path, team_path, track_path};
use crate::admin::parts::DisplayTime;
use crate::admin::{self, Entry, frame_with_counts};
use crate::context::Context;
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

#[derive(Template)]
#[template(path = "admin/overview.html")]
struct OverviewPage {
    page: Page,
    /// When sign-in mails to strangers or customers were used up, if that was within the last day.
    used_up: Option<DisplayTime>,
    periods: Vec<Tab>,
    stats: Vec<Stat>,
    charts: Vec<Chart>,
    tracks: Vec<TrackBar>,
    unanswered: Vec<Entitled>,
    replied: Vec<Entitled>,
    rising: Vec<Entitled>,
    /// The words of searches, and how often.
    missed: Vec<(String, String)>,
}

/// A period to choose.
struct Tab {
    name: String,
    path: String,
    is_current: bool,
}

/// A number, and what it means.
struct Stat {
    name: String,
    number: String,
    /// The comparison or explanation.
    hint: String,
    /// The date that ends the hint, for people and for programs.
    date: Option<(String, String)>,
    /// The page with more about it.
    link: Option<String>,
}

/// Numbers of weeks as bars, and as a table.
struct Chart {
    id: &'static str,
    title: String,
    /// What the numbers are, as the head of a column.
    unit: String,
    /// The chart in words.
    summary: String,
    /// The labels of the lines in the middle and at the top.
    half: String,
    top: String,
    /// Where these labels are: at the end of the lines.
    label_x: String,
    bars: Vec<Bar>,
}

/// The bar of a week. Lengths across are in percent, those upwards in pixels.
struct Bar {
    x: String,
    middle: String,
    y: i64,
    height: i64,
    /// The Monday below the bar. Only some have it, so that they do not touch.
    monday: Option<String>,
    is_now: bool,
    /// The week in the table.
    label: String,
    number: String,
}

/// The feature requests on a track.
struct TrackBar {
    name: String,
    path: String,
    number: String,
    /// The share of all, in words.
    share: String,
    /// The length of the bar in percent of the longest one.
    width: String,
}

/// A feature request with a number.
struct Entitled {
    title: String,
    path: String,
    number: String,
}

/// The height of the tallest bar, and where the bars stand.
const HEIGHT: i64 = 108;
const GROUND: i64 = 128;

/// The places of bars in percent, in tenths of a percent to stay exact: the first one, the step, the width.
const FIRST_X: usize = 60;
const STEP: usize = 775;
const WIDTH: usize = 560;

/// Every third bar has its date below it, the last one included.
const MONDAY_EVERY: usize = 3;

/// `GET /admin/overview`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let t = context.text();
    let (page, counts) = frame_with_counts(&context, Entry::Overview, t.get("admin-overview")).await?;
    let (_, member) = admin::member(&context)?;
    let period = Period::from_days(context.query.get("days"));
    let overviews = &context.state.overviews;
    let overview = overviews.show(&context.state.queries, context.workspace.id, period).await;
    let overview = overview.map_err(HttpError::of_page)?;
    let failed = context.run(&ShowMail { failures: 0 }).await?.dead;
    let used_up = context.run(&ShowUsedUpSignIns).await?;
    let template = OverviewPage {
        used_up: used_up.map(|at| DisplayTime::minute(t, at)),
        periods: periods(t, period),
        stats: stats(t, &overview, &counts, failed, member.role == Role::Admin, page.lacks_mail_server),
        charts: charts(t, &overview.weeks),
        tracks: tracks(t, &counts),
        unanswered: by_votes(t, &overview.unanswered),
        replied: by_votes(t, &overview.replied),
        rising: overview
            .rising
            .iter()
            .map(|rising| entitled(&rising.request, t.count("overview-new-votes", rising.new_votes)))
            .collect(),
        missed: overview
            .missed_searches
            .iter()
            .map(|missed| (missed.words.as_str().to_owned(), t.count("overview-times", missed.count)))
            .collect(),
        page,
    };
    Ok(Reply::page(&template))
}

/// Returns feature requests with their numbers of votes.
fn by_votes(t: Text, requests: &[FeatureRequestSummary]) -> Vec<Entitled> {
    requests.iter().map(|request| entitled(request, t.count("votes", request.votes_count))).collect()
}

fn periods(t: Text, current: Period) -> Vec<Tab> {
    let tab = |period: Period| Tab {
        name: match period {
            Period::Week | Period::Month => t.count("overview-days", period.days()),
            Period::Year => t.get("overview-year").into_owned(),
        },
        path: format!("/admin/overview?days={}", period.days()),
        is_current: period == current,
    };
    Period::ALL.into_iter().map(tab).collect()
}

fn stats(
    t: Text,
    overview: &Overview,
    counts: &InboxCounts,
    failed: u64,
    is_admin: bool,
    lacks_mail_server: bool,
) -> Vec<Stat> {
    let (now, before) = (overview.activity, overview.activity_before);
    let compared = |key: &str, now: i64, before: i64| Stat {
        name: t.get(key).into_owned(),
        number: t.number(now),
        hint: difference(t, now - before),
        date: None,
        link: None,
    };
    let waiting = counts.of_state(InboxState::Unanswered);
    let oldest = overview.oldest_unanswered_at.filter(|_| waiting > 0);
    let hint = if oldest.is_some() { "overview-oldest" } else { "overview-none-waiting" };
    let failures = match (failed, is_admin) {
        (0, _) if lacks_mail_server => "overview-mail-written",
        (0, _) => "overview-mail-fine",
        (_, true) => "overview-see-mail",
        (_, false) => "overview-mail-admins",
    };
    vec![
        compared("overview-requests", now.requests, before.requests),
        compared("overview-votes", now.votes, before.votes),
        compared("overview-comments", now.comments, before.comments),
        Stat {
            name: t.get("overview-unanswered").into_owned(),
            number: t.number(waiting),
            hint: t.get(hint).into_owned(),
            date: oldest.map(|at| (t.date(at), t.machine_date(at))),
            link: oldest.map(|_| state_path(InboxState::Unanswered)),
        },
        Stat {
            name: t.get("overview-failed").into_owned(),
            number: t.number(i64::try_from(failed).unwrap_or(i64::MAX)),
            hint: t.get(failures).into_owned(),
            date: None,
            link: (failed > 0 && is_admin).then(|| "/admin/mail".to_owned()),
        },
    ]
}

/// Returns a difference to the period before in words.
fn difference(t: Text, difference: i64) -> String {
    match difference {
        0 => t.get("overview-same").into_owned(),
        1.. => t.count("overview-more", difference),
        _ => t.count("overview-fewer", -difference),
    }
}

fn charts(t: Text, weeks: &[Week]) -> Vec<Chart> {
    let votes: Vec<i64> = weeks.iter().map(|week| week.votes).collect();
    let requests: Vec<i64> = weeks.iter().map(|week| week.requests).collect();
    vec![
        chart(t, "chart-votes", ["overview-votes-by-week", "overview-votes"], weeks, &votes),
        chart(t, "chart-requests", ["overview-requests-by-week", "overview-requests"], weeks, &requests),
    ]
}

/// Returns the first day of a week, which begins at midnight in UTC, without the year.
fn monday(t: Text, week: &Week) -> String {
    let year = TimeZone::UTC.local(week.start).date().year();
    Text { year, ..Text::utc(t.language) }.short_date(week.start)
}

/// Creates a chart of one number of each week. The last week is not over.
fn chart(t: Text, id: &'static str, [title, unit]: [&str; 2], weeks: &[Week], numbers: &[i64]) -> Chart {
    let title = t.get(title).into_owned();
    let max = numbers.iter().copied().max().unwrap_or_default();
    let top = top_of(max);
    let is_rtl = t.language.direction() == "rtl";
    let date = |week: &Week| Text::utc(t.language).date(week.start);
    let bar = |(at, (week, number)): (usize, (&Week, &i64))| {
        // Time goes in the direction of the writing.
        let from_start = FIRST_X + at * STEP;
        let x = if is_rtl { 10_000_usize.saturating_sub(from_start + WIDTH) } else { from_start };
        let height = if *number == 0 { 0 } else { (number * HEIGHT / top).max(2) };
        let is_now = at + 1 == weeks.len();
        Bar {
            x: percent(x),
            middle: percent(x + WIDTH / 2),
            y: GROUND - height,
            height,
            monday: (weeks.len() - 1 - at).is_multiple_of(MONDAY_EVERY).then(|| monday(t, week)),
            is_now,
            label: if is_now {
                t.get("overview-this-week").into_owned()
            } else {
                t.with("overview-week-of", &[("date", date(week).into())])
            },
            number: t.number(*number),
        }
    };
    let bars: Vec<Bar> = weeks.iter().zip(numbers).enumerate().map(bar).collect();
    let argument = |name, value: String| (name, FluentValue::from(value));
    let arguments = [
        argument("name", title.clone()),
        argument("weeks", weeks.len().to_string()),
        argument("first", bars.first().map_or_else(String::new, |bar| bar.number.clone())),
        argument("date", weeks.first().map_or_else(String::new, date)),
        argument("max", t.number(max)),
        argument("now", bars.last().map_or_else(String::new, |bar| bar.number.clone())),
    ];
    Chart {
        id,
        unit: t.get(unit).into_owned(),
        summary: t.with("overview-chart", &arguments),
        half: t.number(top / 2),
        top: t.number(top),
        label_x: if is_rtl { "0" } else { "100%" }.to_owned(),
        bars,
        title,
    }
}

/// Returns hundredths of a percent as the value of an attribute.
fn percent(hundredths: usize) -> String {
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

/// Returns the round and even number at the top of a chart.
fn top_of(max: i64) -> i64 {
    let mut power = 1_i64;
    loop {
        if let Some(top) = [2, 4, 6, 8].into_iter().map(|factor| power.saturating_mul(factor)).find(|top| *top >= max) {
            return top;
        }
        power = power.saturating_mul(10);
    }
}

fn tracks(t: Text, counts: &InboxCounts) -> Vec<TrackBar> {
    let all = counts.of_state(InboxState::All).max(1);
    let max_count = counts.tracks.iter().map(|track| track.all).max().unwrap_or_default().max(1);
    let hundredths = |part: i64, whole: i64| usize::try_from(part.saturating_mul(10_000) / whole).unwrap_or_default();
    let bar = |track: &roadmap_domain::model::admin::TrackCounts| TrackBar {
        name: track.track.name.as_str().to_owned(),
        path: track_path(track.track.id),
        number: t.number(track.all),
        share: t.count("overview-percent", (track.all * 100 + all / 2) / all),
        width: percent(hundredths(track.all, max_count)),
    };
    counts.tracks.iter().map(bar).collect()
}

fn entitled(request: &FeatureRequestSummary, number: String) -> Entitled {
    Entitled { title: request.title.as_str().to_owned(), path: team_path(&RequestLink::from(request)), number }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::inbox::tests::sample_counts;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page, sample_summary};
    use roadmap_domain::model::admin::{Activity, MissedSearch, MissedWords, Rising};
    use roadmap_domain::model::portal::Language;

    const ENGLISH: Text = Text::utc(Language::English);

    fn overview(is_empty: bool) -> Overview {
        let week = |number: i64| {
            let count = if is_empty { 0 } else { number };
            // Mondays; the first one is in the first week of the next year.
            Week { start: at(7 * number - 65), requests: count, votes: 11 * count, comments: 0 }
        };
        let request = || sample_summary(7, "Night <colours> & \"themes\"", None);
        let count = usize::from(!is_empty);
        Overview {
            activity: Activity { requests: 1_204, votes: 3, comments: 3 },
            activity_before: Activity { requests: 1_200, votes: 4, comments: 3 },
            weeks: (0..12).map(week).collect(),
            unanswered: vec![request(); count],
            replied: vec![request(); count],
            oldest_unanswered_at: (!is_empty).then(|| at(0)),
            rising: vec![Rising { request: request(), new_votes: 2 }; count],
            missed_searches: vec![
                MissedSearch {
                    words: MissedWords::from_stored("https://evil.example <b>".to_owned()),
                    count: 3
                };
                count
            ],
        }
    }

    fn page(language: Language, is_empty: bool, failed: u64, is_admin: bool) -> String {
        let (t, overview, counts) = (Text::utc(language), overview(is_empty), sample_counts());
        let counts = if is_empty { InboxCounts::default() } else { counts };
        let template = OverviewPage {
            page: sample_page(language, true, &t.get("admin-overview")),
            used_up: is_admin.then(|| DisplayTime::minute(t, at(1))),
            periods: periods(t, Period::Month),
            stats: stats(t, &overview, &counts, failed, is_admin, false),
            charts: charts(t, &overview.weeks),
            tracks: tracks(t, &counts),
            unanswered: by_votes(Text::utc(language), &overview.unanswered),
            replied: by_votes(Text::utc(language), &overview.replied),
            rising: overview.rising.iter().map(|rising| entitled(&rising.request, "2 new votes".to_owned())).collect(),
            missed: overview
                .missed_searches
                .iter()
                .map(|missed| (missed.words.as_str().to_owned(), "3 times".to_owned()))
                .collect(),
        };
        template.render().unwrap()
    }

    #[test]
    fn the_page_is_well_formed_in_every_state() {
        for language in Language::ALL {
            for (is_empty, failed, is_admin) in [(false, 2, true), (false, 2, false), (true, 0, true)] {
                let html = page(language, is_empty, failed, is_admin);
                assert_well_formed(&html);
                assert_eq!(html.matches("href=\"/admin/mail\"").count(), usize::from(failed > 0 && is_admin));
                assert_eq!(html.matches("class=\"now\"").count(), 2, "{html}");
            }
        }
        // What visitors have typed is text.
        let html = page(Language::English, false, 0, true);
        assert!(html.contains("<bdi>https://evil.example &#60;b&#62;</bdi>"), "{html}");
        assert!(!html.contains("href=\"https://evil.example"), "{html}");
    }

    #[test]
    fn differences_are_words() {
        for (number, words) in
            [(0, "As many as before"), (1_312, "1,312 more than before"), (-4, "4 fewer than before")]
        {
            assert_eq!(difference(ENGLISH, number), words);
        }
    }

    #[test]
    fn the_top_of_a_chart_is_round_and_even() {
        for (max, top) in [(0, 2), (2, 2), (3, 4), (5, 6), (8, 8), (9, 20), (41, 60), (163, 200), (i64::MAX, i64::MAX)]
        {
            assert_eq!(top_of(max), top, "{max}");
        }
    }

    #[test]
    fn bars_are_as_high_as_their_numbers_and_follow_the_writing() {
        let weeks = overview(false).weeks;
        let numbers = [0, 1, 50, 100, 0, 0, 0, 0, 0, 0, 0, 200];
        let of =
            |language| chart(Text::utc(language), "a", ["overview-votes-by-week", "overview-votes"], &weeks, &numbers);
        let english = of(Language::English);
        let bars: Vec<(i64, i64)> = english.bars.iter().take(4).map(|bar| (bar.y, bar.height)).collect();
        assert_eq!(bars, [(128, 0), (126, 2), (101, 27), (74, 54)]);
        let last = english.bars.last().unwrap();
        assert_eq!((last.y, last.height, last.is_now, last.label.as_str()), (20, 108, true, "This week so far"));
        assert_eq!((english.bars[0].x.as_str(), english.bars[0].middle.as_str()), ("0.60%", "3.40%"));
        assert_eq!((last.x.as_str(), english.label_x.as_str()), ("85.85%", "100%"));
        assert_eq!((english.half.as_str(), english.top.as_str()), ("100", "200"));
        assert_eq!(
            english.summary,
            "Votes by week, the last 12 weeks: 0 in the week from 29 December 2025, at most 200, 200 in this week so far"
        );
        assert_eq!(english.bars[0].label, "From 29 December 2025");
        let mondays: Vec<Option<&str>> = english.bars.iter().map(|bar| bar.monday.as_deref()).collect();
        assert_eq!(mondays[..6], [None, None, Some("12 Jan"), None, None, Some("2 Feb")]);
        assert_eq!(mondays[11], Some("16 Mar"));
        let arabic = of(Language::Arabic);
        assert_eq!((arabic.bars[0].x.as_str(), arabic.label_x.as_str()), ("93.80%", "0"));
    }
}
