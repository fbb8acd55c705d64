use std::collections::BTreeMap;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::model::search::{SearchDocument, SearchQuery};
use roadmap_domain::policy::search::Search;
use roadmap_domain::ports::IndexedRequest;
use roadmap_domain::ports::memory_index::MemoryIndex;
use serde_json::Value;
fn lines(name: &str) -> Vec<Value> {
    std::fs::read_to_string(format!("tests/search-eval/{name}.jsonl")).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}
fn main() {
    let show = std::env::args().nth(1).unwrap_or("tuning".into());
    let verbose = std::env::args().nth(2);
    let requests = lines("requests");
    let ids: Vec<String> = requests.iter().map(|r| r["id"].as_str().unwrap().to_owned()).collect();
    let titles: Vec<String> = requests.iter().map(|r| r["title"].as_str().unwrap().to_owned()).collect();
    let mut index = MemoryIndex::default();
    for (n, r) in requests.iter().enumerate() {
        let tags: Vec<&str> = r["tags"].as_array().unwrap().iter().map(|t| t.as_str().unwrap()).collect();
        let document = SearchDocument::new(r["title"].as_str().unwrap(), tags, r["description"].as_str().unwrap());
        index.requests.push(IndexedRequest { id: FeatureRequestId::new(uuid::Uuid::from_u128(n as u128)), number: n as i64, votes_count: r["votes"].as_i64().unwrap(), document });
    }
    let mut groups: BTreeMap<String, (f64, f64, f64, f64, f64)> = BTreeMap::new();
    let min: f64 = std::env::var("MIN").ok().and_then(|v| v.parse().ok()).unwrap_or(0.0);
    for q in lines("queries") {
        if q["half"] != show.as_str() && show != "all" { continue; }
        let text = q["query"].as_str().unwrap();
        let query = SearchQuery::parse("query", text).unwrap();
        let limit = if min > 0.0 { 5 } else { 8 };
        #[allow(unused_mut)] let mut hits = pollster::block_on(Search::new(query, limit).with_min_similarity(min).run(&mut index)).unwrap();
        hits.truncate(limit);
        let found: Vec<&str> = hits.iter().map(|h| ids[h.number as usize].as_str()).collect();
        let relevant: Vec<&str> = q["relevant"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
        let kind = q["kind"].as_str().unwrap();
        let e = groups.entry(kind.to_owned()).or_default();
        e.0 += 1.0;
        e.4 += found.len() as f64;
        let got = relevant.iter().filter(|r| found.contains(r)).count();
        if kind == "absent" {
            if found.is_empty() { e.2 += 1.0; }
            if verbose.as_deref().is_some_and(|v| v == kind) && !hits.is_empty() {
                println!("ABSENT {text:?}");
                for h in hits.iter().take(4) { println!("    {:.2} cov {:.2} sim {:.3} {:?} {:?}", h.score, h.relevance.coverage, h.relevance.similarity, titles[h.number as usize], h.relevance.matches.iter().map(|m| (m.word, m.field, m.kind)).collect::<Vec<_>>()); }
            }
        } else {
            e.1 += got as f64 / relevant.len() as f64;
            if got > 0 { e.2 += 1.0; }
            if let Some(p) = found.iter().position(|f| relevant.contains(f)) { e.3 += 1.0 / (p + 1) as f64; }
            if verbose.as_deref().is_some_and(|v| v == kind || v == "miss") && got < relevant.len() {
                println!("{kind} {text:?} misses {:?}", relevant.iter().filter(|r| !found.contains(r)).map(|r| &titles[ids.iter().position(|i| i == r).unwrap()]).collect::<Vec<_>>());
                for h in hits.iter().take(3) { println!("    {:.2} cov {:.2} sim {:.3} {:?}", h.score, h.relevance.coverage, h.relevance.similarity, titles[h.number as usize]); }
            }
        }
    }
    println!("{:12} {:>4} {:>7} {:>6} {:>6} {:>7}", "kind", "n", "recall", "hit", "mrr", "results");
    let (mut n, mut r, mut h, mut m) = (0.0, 0.0, 0.0, 0.0);
    for (k, (c, rec, hit, mrr, len)) in &groups {
        println!("{k:12} {c:4} {:7.3} {:6.3} {:6.3} {:7.2}", rec / c, hit / c, mrr / c, len / c);
        if k != "absent" { n += c; r += rec; h += hit; m += mrr; }
    }
    println!("{:12} {n:4} {:7.3} {:6.3} {:6.3}", "all present", r / n, h / n, m / n);
}
