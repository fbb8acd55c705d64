//! Contract tests of the search, contract section 4.5 and decision 4.

use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::search::{SearchDocument, SearchQuery};
use roadmap_domain::policy::search::{CANDIDATE_LIMIT, Hit, MAX_SCANNED_ROWS, Search};
use roadmap_domain::ports::IndexedRequest;
use roadmap_domain::ports::memory_index::MemoryIndex;
use roadmap_domain::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use roadmap_domain::usecase::reindex_search::ReindexSearch;

use serde::Deserialize;
use uuid::Uuid;

use crate::harness::{Harness, Many, Subject, draft, new_title, vote};

/// Returns all hits of a query.
async fn hits(harness: &Harness, workspace: WorkspaceId, query: &str) -> Vec<Hit> {
    let query = SearchQuery::parse("query", query).unwrap();
    harness.subject.search.search(workspace, Search::new(query, usize::MAX)).await.unwrap()
}

/// Words are stemmed, accents are ignored, the last word matches as a prefix, and hyphenated words match by either
/// part.
///
/// Decision 4: a search stems words and ignores accents.
/// Decision 4: the last word of a query is a prefix too.
/// Decision 4: hyphenated words are found by either part.
/// Contract 4.5.
pub async fn words_are_found_wherever_they_stand(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    for (title, tags, description) in [
        ("Façade for the Zürich office", &[][..], ""),
        ("E-mail notifications", &["single sign-on"], "When a request moves, tell its voters."),
        ("Dark mode", &["night-shift"], "<p>My <b>eyes</b> hurt &amp; the screen is bright</p>"),
        ("Экспорт", &[], "don't make me wait"),
    ] {
        harness.create(workspace, draft(title, tags, description)).await;
    }
    for (query, expected) in [
        ("facade", &["Façade for the Zürich office"][..]),
        ("FAÇADE zurich", &["Façade for the Zürich office"]),
        ("notification", &["E-mail notifications"]),
        ("screens brightness", &["Dark mode"]),
        ("mail notif", &["E-mail notifications"]),
        ("notificat", &["E-mail notifications"]),
        ("moving requests", &["E-mail notifications"]),
        ("sign", &["E-mail notifications"]),
        ("sign-on", &["E-mail notifications"]),
        ("shift", &["Dark mode"]),
        ("night", &["Dark mode"]),
        ("eye", &["Dark mode"]),
        ("bright dark", &["Dark mode"]),
        ("dark notifications", &["Dark mode", "E-mail notifications"]),
        ("eksport", &["Экспорт"]),
        ("dont", &["Экспорт"]),
        ("don’t wait", &["Экспорт"]),
        ("amp", &[]),
        ("zebra", &[]),
        ("", &[]),
        ("   ", &[]),
    ] {
        assert_eq!(harness.search(workspace, query).await, expected, "{query:?}");
    }
}

/// A title without letters and digits is stored like any other and matches no word.
///
/// Beyond the contract.
pub async fn a_request_without_words_is_no_trouble(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.create(workspace, draft("!!!", &["?"], "…")).await;
    assert_eq!(harness.count("search_words", workspace).await, 0);
    assert_eq!(harness.search(workspace, "!!!").await, Vec::<String>::new());
}

/// Matches in the title rank above tags, and tags above the description. Votes raise each, and the newer comes first
/// among equals.
///
/// Contract 4.5: requests are ranked by relevance and number of votes.
/// Decision 4: among equal search results the newest comes first.
/// Decision 4: in a search the title counts more than tags, and tags more than the description.
pub async fn better_and_more_wanted_matches_come_first(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.create(workspace, draft("In the description", &[], "export export export")).await;
    harness.create(workspace, draft("In the tags", &["export"], "")).await;
    let older = harness.create(workspace, draft("Export in an older title", &[], "")).await;
    harness.create(workspace, draft("Export in a newer title", &[], "")).await;
    let by_relevance = ["Export in a newer title", "Export in an older title", "In the tags", "In the description"];
    assert_eq!(harness.search(workspace, "export").await, by_relevance);
    harness.vote(workspace, &older, "ann@example.com").await;
    let by_votes = ["Export in an older title", "Export in a newer title", "In the tags", "In the description"];
    assert_eq!(harness.search(workspace, "export").await, by_votes);
}

/// Feature requests that match the whole query rank above those that match a part of it. A part that is too small does
/// not match: one word of many, or a word of a description beside an unknown word.
///
/// Decision 4: what matches too small a part of a query is no result, or a weak one.
/// Decision 4: not every word of a query must match, and feature requests that match more of it come first.
/// Decision 4: noise words in a query count little or nothing.
pub async fn better_coverage_comes_first(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    for (title, description) in [
        ("Quokka", "fern"),
        ("Fern and wombat", ""),
        ("Wombat burrow", "A quokka lives there"),
        ("Numbat", "like a quokka"),
    ] {
        harness.create(workspace, draft(title, &[], description)).await;
    }
    for (query, expected) in [
        ("quokka fern", &["Quokka", "Fern and wombat"][..]),
        ("wombat quokka", &["Wombat burrow", "Fern and wombat", "Quokka"]),
        ("how can the customer add a quokka", &["Quokka", "Numbat", "Wombat burrow"]),
        ("customer zebra giraffe lion tiger quokka", &[]),
        ("the customer", &[]),
    ] {
        assert_eq!(harness.search(workspace, query).await, expected, "{query:?}");
    }
}

/// Compounds, abbreviations and phrases of one concept find each other.
///
/// Decision 4: compounds, abbreviations and phrases of one concept find each other in a search.
pub async fn other_spellings_and_phrases_are_found(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    for (title, tags) in [
        ("Quokka time zones", &["work flow"][..]),
        ("Red burrow alarm", &[]),
        ("Screen reader for the terminal", &["a11y"]),
        ("Kubernetes chart", &[]),
        ("Single sign-on", &[]),
        ("Dark theme", &[]),
    ] {
        harness.create(workspace, draft(title, tags, "")).await;
    }
    for (query, expected) in [
        ("timezone", &["Quokka time zones"][..]),
        ("workflow", &["Quokka time zones"]),
        ("work flow", &["Quokka time zones"]),
        ("darktheme", &["Dark theme"]),
        ("rba", &["Red burrow alarm"]),
        ("k8s", &["Kubernetes chart"]),
        ("accessibility", &["Screen reader for the terminal"]),
        ("sso", &["Single sign-on"]),
        ("saml", &["Single sign-on"]),
        ("night mode", &["Dark theme"]),
    ] {
        assert_eq!(harness.search(workspace, query).await, expected, "{query:?}");
    }
}

/// Scripts without spaces between words are compared in pairs of characters, other spellings of a text are the same
/// text, and signs belong to the names of programming languages.
///
/// Decision 4: scripts without spaces are searched by pairs of characters, and spellings of one text are the same.
/// Decision 4: `c++`, `c#` and `.net` are words of a search.
pub async fn all_scripts_and_signs_are_searched(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    for (title, tags, description) in [
        ("视频上传", &["附件"][..], "客户经常把录像发给我们"),
        ("食品分类", &[], ""),
        ("モバイルアプリ", &[], ""),
        ("グループ権限", &[], ""),
        ("검색기능을 개선", &[], ""),
        ("อัปโหลดวิดีโอ", &[], ""),
        ("التَّصْدِيرُ إلى ملف", &[], ""),
        ("יִיצוּא", &[], ""),
        ("Настройки уведомлений", &[], ""),
        ("C++ SDK", &[], ""),
        ("C# SDK", &[], ""),
        ("Client for .NET", &[], ""),
        ("Retry of webhooks", &[], ""),
        ("Colours", &[], ""),
    ] {
        harness.create(workspace, draft(title, tags, description)).await;
    }
    for (query, expected) in [
        ("视频", &["视频上传"][..]),
        ("上传视频", &["视频上传"]),
        ("視", &[]),
        ("视", &["视频上传"]),
        // The last character of a run.
        ("传", &["视频上传"]),
        ("录像", &["视频上传"]),
        ("附件", &["视频上传"]),
        // The sounds of `视频` and `食品` are similar.
        ("shipin", &[]),
        ("アプリ", &["モバイルアプリ"]),
        ("ｱﾌﾟﾘ", &["モバイルアプリ"]),
        ("ク\u{3099}ルーフ\u{309a}", &["グループ権限"]),
        ("グ", &["グループ権限"]),
        ("権限を", &["グループ権限"]),
        ("검색 기능", &["검색기능을 개선"]),
        ("검색은", &["검색기능을 개선"]),
        ("วิดีโอ", &["อัปโหลดวิดีโอ"]),
        ("تصدير", &["التَّصْدِيرُ إلى ملف"]),
        ("ملفات", &["التَّصْدِيرُ إلى ملف"]),
        ("הייצוא", &["יִיצוּא"]),
        ("настройка уведомления", &["Настройки уведомлений"]),
        ("настрокйи", &["Настройки уведомлений"]),
        ("ｓｄｋ", &["C# SDK", "C++ SDK"]),
        ("C++", &["C++ SDK"]),
        ("c++ sdk", &["C++ SDK", "C# SDK"]),
        ("C#", &["C# SDK"]),
        ("csharp", &["C# SDK"]),
        (".net", &["Client for .NET"]),
        ("dotnet", &["Client for .NET"]),
        ("net", &["Client for .NET"]),
        ("R", &[]),
        ("C", &[]),
    ] {
        assert_eq!(harness.search(workspace, query).await, expected, "{query:?}");
    }
}

/// Words that no feature request has are corrected, and known words are not.
///
/// Decision 4: a search corrects typing errors in unknown words only.
pub async fn typing_errors_are_corrected(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.create(workspace, draft("Dark mode", &["appearance"], "A schedule would be perfect")).await;
    harness.create(workspace, draft("Dart library", &[], "")).await;
    for (query, expected) in [
        ("drak mode", &["Dark mode"][..]),
        ("apearance", &["Dark mode"]),
        ("appaerance", &["Dark mode"]),
        ("scheduel", &["Dark mode"]),
        ("libary", &["Dart library"]),
        // A correctly typed word is not corrected to a similar one.
        ("dart", &["Dart library"]),
        ("dark", &["Dark mode"]),
        ("darl", &["Dart library", "Dark mode"]),
        ("xylophone", &[]),
        ("dark xylophone", &["Dark mode"]),
        ("schedule xylophone zebra", &[]),
    ] {
        assert_eq!(harness.search(workspace, query).await, expected, "{query:?}");
    }
}

/// Any input is treated as text, never as query syntax.
///
/// Decision 4.
pub async fn no_syntax_leaks_through(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.create(workspace, draft("Dark mode or not", &["near"], "")).await;
    for query in [
        "\"dark",
        "dark\"",
        "dark*",
        "^dark",
        "-dark",
        "+dark",
        "title:dark",
        "{title} : dark",
        "dark)",
        "(dark",
        "dark OR",
        "NOT dark",
        "dark AND mode",
        "NEAR(dark mode)",
        "dark'--",
        "dark;",
        "dark%",
        "dark_",
        "dark\\",
        "dark & mode",
        "dark | mode",
        "!dark",
        "dark <-> mode",
        "dark:*",
        "'dark' 'mode'",
        "dark\u{200b}mode",
        "\u{202e}dark",
    ] {
        let matches = harness.search(workspace, query).await;
        assert!(matches.is_empty() || matches == ["Dark mode or not"], "{query:?}: {matches:?}");
    }
    for query in ["\"*\"", "()", "***", "\"\"", "--", "%", "' OR 1=1 --", "\u{1f600}", "a".repeat(1_000).as_str()] {
        harness.search(workspace, query).await;
    }
    assert_eq!(harness.search(workspace, "dark* -mode").await, ["Dark mode or not"]);
    assert_eq!(harness.search(workspace, "not").await, ["Dark mode or not"]);
}

/// Private feature requests match neither a query as typed nor a corrected one, and corrections do not use their words.
///
/// Contract 2.2: search never returns private requests.
pub async fn private_requests_are_never_found(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let private = harness
        .create(workspace, FeatureRequestDraft { private: true, ..draft("Quokka", &["wombat"], "numbat") })
        .await;
    for query in ["quokka", "wombat", "numbat", "quoka", "q"] {
        assert_eq!(harness.search(workspace, query).await, Vec::<String>::new(), "{query}");
    }
    assert_eq!(harness.subject.search.load_results(workspace, &[private.id]).await.unwrap(), vec![]);
    for table in ["search_documents", "search_words"] {
        assert_eq!(harness.count(table, workspace).await, 0, "{table}");
    }
}

/// At most 500 distinct words of a record are indexed, and the first 50 of them are used for corrections. Further words
/// are stored and cause no error.
pub async fn a_record_adds_a_bounded_number_of_words(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let letters =
        |number: usize| format!("{number:04}").bytes().map(|digit| char::from(digit + 49)).collect::<String>();
    let description: String = (0..3_000).map(|number| letters(number) + " ").collect();
    let created = harness.create(workspace, draft("Dictionary", &["reference"], &description)).await;
    assert_eq!(harness.count("search_words", workspace).await, 50);
    for (number, is_found) in [(0, true), (497, true), (498, false), (2_999, false)] {
        let hits = hits(&harness, workspace, &format!("{} dictionary", letters(number))).await;
        assert_eq!(hits[0].relevance.matches.len() == 2, is_found, "{number}");
    }
    let results = harness.subject.search.load_results(workspace, &[created.id]).await.unwrap();
    assert_eq!(results[0].description, description.trim_end());
}

/// For a very common word the candidates are bounded, and include the most voted matches.
///
/// Decision 4: common words of a query find the most voted and the newest matches.
/// Contract 4.5.
pub async fn common_words_find_the_most_wanted(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let drafts = (0..1_500).map(|number| match number {
        700 => draft("A widget in the title", &[], ""),
        _ => draft(&format!("Request {number}"), &[], "everyone has a widget"),
    });
    let creations = drafts.map(CreateFeatureRequest::new).collect();
    harness.executor.run_without_key(workspace, &Many(creations)).await.unwrap();
    let votes = |number, votes: i64| {
        let voter = |voter| format!("voter{voter}@example.com");
        (0..votes).map(move |of| vote(FeatureRequestRef::Number(number), Some((&voter(of), None)), None))
    };
    let few = [(3, 5), (901, 4), (42, 3)].into_iter().flat_map(|(number, count)| votes(number, count)).collect();
    harness.executor.run_without_key(workspace, &Many(few)).await.unwrap();
    let hits = hits(&harness, workspace, "widget").await;
    // The most voted matches, and the match in a title.
    assert_eq!(hits.len(), CANDIDATE_LIMIT + 1);
    assert_eq!(hits.iter().find(|hit| hit.votes_count == 5).unwrap().number, 3);
    let titles = harness.search(workspace, "widget").await;
    assert_eq!(titles.len(), 15);
    // The title weighs four times as much as a description, whose votes count then.
    assert_eq!(titles[..4], ["A widget in the title", "Request 2", "Request 900", "Request 41"]);
    // The newest of the matches without votes follow.
    assert_eq!(titles[4], "Request 1499");
    // More matches than are ranked have nearly as many votes. The one with the most is included although it is older.
    let many = (1_440..=1_500).flat_map(|number| votes(number, if number == 1_440 { 17 } else { 16 })).collect();
    harness.executor.run_without_key(workspace, &Many(many)).await.unwrap();
    let titles = harness.search(workspace, "widget").await;
    assert_eq!(titles[..3], ["A widget in the title", "Request 1439", "Request 1499"]);
    // With a rare second word there are few matches again. A title with the common word alone is a weak result.
    assert_eq!(harness.search(workspace, "widget 1234").await, ["Request 1234", "A widget in the title"]);
}

/// A word of very many new feature requests with few votes is searched within the limit of scanned rows, from the most
/// voted downwards and from the newest backwards. The newest matches are found; a match outside of both ranges is not.
///
/// Contract 4.5; Decision 4.
pub async fn young_common_words_are_found_within_the_budget(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let old = i64::try_from(MAX_SCANNED_ROWS).unwrap() + 100;
    let drafts = (1..=old).map(|number| match number {
        1 => draft("The first", &[], "everyone has a quokka"),
        _ => draft(&format!("Old {number}"), &[], "everyone has a wombat"),
    });
    let creations = drafts.map(CreateFeatureRequest::new).collect();
    harness.executor.run_without_key(workspace, &Many(creations)).await.unwrap();
    let voted = |number| vote(FeatureRequestRef::Number(number), Some(("ann@example.com", None)), None);
    harness.executor.run_without_key(workspace, &Many((1..=old).map(voted).collect())).await.unwrap();
    let drafts = (1..=1_100).map(|number| draft(&format!("Young {number}"), &[], "everyone has a quokka"));
    let creations = drafts.map(CreateFeatureRequest::new).collect();
    harness.executor.run_without_key(workspace, &Many(creations)).await.unwrap();
    for voter in ["ann@example.com", "bob@example.com"] {
        let popular = vote(FeatureRequestRef::Number(old + 7), Some((voter, None)), None);
        harness.executor.run_without_key(workspace, &popular).await.unwrap();
    }
    let mut numbers: Vec<i64> = hits(&harness, workspace, "quokka").await.iter().map(|hit| hit.number).collect();
    numbers.sort_unstable();
    let newest = old + 1_101 - i64::try_from(CANDIDATE_LIMIT).unwrap()..=old + 1_100;
    assert_eq!(numbers, std::iter::once(old + 7).chain(newest).collect::<Vec<_>>());
    let titles = harness.search(workspace, "quokka").await;
    assert_eq!((titles.len(), &titles[..3]), (15, &["Young 7", "Young 1100", "Young 1099"].map(str::to_owned)[..]));
    // Matches that are neither among the most voted nor among the newest feature requests are still found.
    let drafts = (1..=2_000).map(|number| draft(&format!("Newest {number}"), &[], "everyone has a numbat"));
    let creations = drafts.map(CreateFeatureRequest::new).collect();
    harness.executor.run_without_key(workspace, &Many(creations)).await.unwrap();
    assert_eq!(harness.search(workspace, "quokka").await[0], "Young 7");
    assert_eq!(harness.search(workspace, "quokka").await.len(), 15);
}

/// A feature request of the evaluation of searches.
#[derive(Debug, Deserialize)]
struct Evaluated {
    title: String,
    tags: Vec<String>,
    description: String,
    votes: usize,
}

/// A query of the evaluation of searches.
#[derive(Debug, Deserialize)]
struct Judged {
    query: String,
}

fn read<T: for<'a> Deserialize<'a>>(lines: &str) -> Vec<T> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns pseudo-random feature requests of few words, some of which are common.
fn generated() -> (Vec<Evaluated>, Vec<String>) {
    let mut state = 7_usize;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let names = ["quokka", "fern", "moss", "wombat", "numbat", "burrow", "zebra", "lion", "gecko", "lichen"];
    let mut words = |count: usize| -> Vec<&str> { (0..count).map(|_| names[random(10).min(random(10))]).collect() };
    let request = |number: usize| Evaluated {
        title: format!("{} {number}", words(3).join(" ")),
        tags: words(number % 2).into_iter().map(str::to_owned).collect(),
        description: words(number % 9).join(" "),
        votes: number % 3,
    };
    let requests = (0..400).map(request).collect();
    let queries = (0..60).map(|number| words(1 + number % 5).join(" ")).collect();
    (requests, queries)
}

/// A store returns the same results with the same scores as the index in memory.
///
/// Decision 4: both stores return the same search results in the same order.
pub async fn results_equal_those_of_the_index_in_memory(harness: Harness) {
    let evaluated = read(include_str!("../../../../tests/search-eval/requests.jsonl"));
    let judged: Vec<Judged> = read(include_str!("../../../../tests/search-eval/queries.jsonl"));
    let judged = judged.into_iter().map(|judged| judged.query).collect();
    for (name, (requests, queries)) in [("evaluation", (evaluated, judged)), ("generated", generated())] {
        let workspace = harness.workspace(name).await;
        let (mut creations, mut votes, mut index) = (Vec::new(), Vec::new(), MemoryIndex::default());
        for (request, number) in requests.iter().zip(1..) {
            let tags: Vec<&str> = request.tags.iter().map(String::as_str).collect();
            let draft = draft(&request.title, &tags, &request.description);
            let document = SearchDocument::new(&request.title, tags, draft.description.text());
            let votes_count = request.votes % 4;
            creations.push(CreateFeatureRequest::new(draft));
            votes.extend((0..votes_count).map(|voter| {
                vote(FeatureRequestRef::Number(number), Some((&format!("voter{voter}@example.com"), None)), None)
            }));
            index.requests.push(IndexedRequest {
                id: FeatureRequestId::new(Uuid::nil()),
                number,
                votes_count: i64::try_from(votes_count).unwrap(),
                document,
            });
        }
        harness.executor.run_without_key(workspace, &Many(creations)).await.unwrap();
        harness.executor.run_without_key(workspace, &Many(votes)).await.unwrap();
        for text in queries {
            let search = || Search::new(SearchQuery::parse("query", &text).unwrap(), 15);
            let actual = harness.subject.search.search(workspace, search()).await.unwrap();
            let expected = search().run(&mut index).await.unwrap();
            let scores = |hits: &[Hit]| hits.iter().map(|hit| (hit.number, hit.score)).collect::<Vec<_>>();
            assert_eq!(scores(&actual), scores(&expected), "{name}: {text:?}");
        }
    }
}

/// Feature requests of an earlier version are indexed again, with the same results as before.
///
/// Decision 4: search documents of an earlier version are indexed again.
pub async fn outdated_documents_are_indexed_again(harness: Harness) {
    let [acme, bolt] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    for number in 0..25 {
        harness.create(acme, draft(&format!("Dark mode {number}"), &["quokka"], "fern")).await;
    }
    harness.create(acme, FeatureRequestDraft { private: true, ..draft("Dark secret", &[], "") }).await;
    harness.create(bolt, draft("Dark mode", &[], "")).await;
    let Subject { maintenance, directory, probe, .. } = &harness.subject;
    let reindex = ReindexSearch::new(harness.executor.clone(), maintenance.clone(), directory.clone());
    assert_eq!(reindex.count_outdated().await.unwrap(), 0);
    let expected = harness.search(acme, "night mode quokka").await;
    assert_eq!(expected.len(), 15);
    // As an earlier version left them: one document lacks a word of its title.
    probe.execute("UPDATE search_documents SET version = 0").await;
    probe.execute("UPDATE feature_requests SET title = 'Zebra crossing' WHERE title = 'Dark mode 3'").await;
    assert_eq!(harness.search(acme, "zebra").await, Vec::<String>::new());
    assert_eq!(reindex.count_outdated().await.unwrap(), 26);
    let outdated = maintenance.outdated_documents(acme, 1, 10).await.unwrap();
    assert_eq!(outdated.len(), 10);
    assert_eq!(reindex.run(|_| std::future::ready(())).await.unwrap(), 26);
    assert_eq!(reindex.count_outdated().await.unwrap(), 0);
    assert_eq!(harness.search(acme, "night mode quokka").await, expected);
    assert_eq!(harness.search(acme, "zebra").await, ["Zebra crossing"]);
    assert_eq!(harness.search(bolt, "night mode").await, ["Dark mode"]);
    assert_eq!(reindex.run_workspace(acme).await.unwrap(), 25);
    assert_eq!(harness.search(acme, "secret").await, Vec::<String>::new());
    assert_eq!(harness.search(acme, "night mode quokka").await, expected);
}

/// A target is found by the titles and tags of what is merged into it, also by typing errors and after everything is
/// indexed again. What is merged is not found itself.
///
/// Addition 3: search lists the target only, and finds it by the source's title and tags.
pub async fn a_target_is_found_by_the_words_of_its_sources(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let quokka = harness.create(workspace, draft("Quokka zoo", &["lichen"], "<p>Burrow</p>")).await;
    let gecko = harness.create(workspace, draft("Gecko", &["moss", "wall"], "")).await;
    let target = harness.create(workspace, draft("Fern", &["green"], "<p>Forest</p>")).await;
    let other = harness.create(workspace, draft("Zebra zoo", &[], "")).await;
    let Subject { maintenance, directory, .. } = &harness.subject;
    let reindex = ReindexSearch::new(harness.executor.clone(), maintenance.clone(), directory.clone());
    let check = async |expected: &[(&str, &[&str])]| {
        for _ in 0..2 {
            for (query, titles) in expected {
                assert_eq!(harness.search(workspace, query).await, *titles, "{query}");
            }
            assert_eq!(reindex.count_outdated().await.unwrap(), 0);
            reindex.run_workspace(workspace).await.unwrap();
        }
    };
    let alone: [(&str, &[&str]); 9] = [
        ("quokka", &["Quokka zoo"]),
        ("lichen", &["Quokka zoo"]),
        ("burrow", &["Quokka zoo"]),
        ("gecko", &["Gecko"]),
        ("moss", &["Gecko"]),
        ("fern", &["Fern"]),
        ("green", &["Fern"]),
        ("forest", &["Fern"]),
        ("quoka", &["Quokka zoo"]),
    ];
    check(&alone).await;
    // The chain is found by all of its titles and tags, but not by descriptions of what is merged.
    harness.merge(workspace, gecko.id, quokka.id).await;
    check(&[("gecko", &["Quokka zoo"]), ("moss", &["Quokka zoo"]), ("burrow", &["Quokka zoo"])]).await;
    harness.merge(workspace, quokka.id, target.id).await;
    let merged: [(&str, &[&str]); 9] = [
        ("quokka", &["Fern"]),
        ("lichen", &["Fern"]),
        ("burrow", &[]),
        ("gecko", &["Fern"]),
        ("wall", &["Fern"]),
        ("fern", &["Fern"]),
        ("green", &["Fern"]),
        ("forest", &["Fern"]),
        ("quoka", &["Fern"]),
    ];
    check(&merged).await;
    assert_eq!(harness.search(workspace, "zoo").await, ["Zebra zoo", "Fern"]);
    assert_eq!(harness.count("search_documents", workspace).await, 2);
    // Its votes count for the whole tree.
    harness.vote(workspace, &quokka, "ann@example.com").await;
    assert_eq!(hits(&harness, workspace, "gecko").await[0].votes_count, 1);
    // Results are loaded in the given order, without merged ones and those that do not exist.
    let ids = [other.id, quokka.id, target.id, FeatureRequestId::new(Uuid::from_u128(7))];
    let results = harness.subject.search.load_results(workspace, &ids).await.unwrap();
    assert_eq!(results.iter().map(|result| result.summary.id).collect::<Vec<_>>(), [other.id, target.id]);
    let ids = [target.id, other.id];
    let results = harness.subject.search.load_results(workspace, &ids).await.unwrap();
    assert_eq!(results.iter().map(|result| result.summary.id).collect::<Vec<_>>(), ids);
    assert_eq!((results[0].summary.votes_count, results[0].description.as_str()), (1, "Forest"));
    // An edit of the target keeps the words of its sources.
    harness.edit(workspace, target.id, new_title("Moor")).await;
    check(&[("quokka", &["Moor"]), ("moor", &["Moor"]), ("fern", &[])]).await;
    harness.edit(workspace, target.id, new_title("Fern")).await;
    check(&merged).await;
    harness.unmerge(workspace, quokka.id).await;
    harness.unmerge(workspace, gecko.id).await;
    check(&alone).await;
    harness.delete(workspace, other.id, false).await;
    assert_eq!(harness.search(workspace, "zoo").await, ["Quokka zoo"]);
}

crate::contract::cases!($ search {
    words_are_found_wherever_they_stand,
    a_request_without_words_is_no_trouble,
    better_and_more_wanted_matches_come_first,
    better_coverage_comes_first,
    other_spellings_and_phrases_are_found,
    all_scripts_and_signs_are_searched,
    typing_errors_are_corrected,
    no_syntax_leaks_through,
    private_requests_are_never_found,
    a_record_adds_a_bounded_number_of_words,
    common_words_find_the_most_wanted,
    young_common_words_are_found_within_the_budget,
    results_equal_those_of_the_index_in_memory,
    outdated_documents_are_indexed_again,
    a_target_is_found_by_the_words_of_its_sources,
});
