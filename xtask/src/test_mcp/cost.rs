//! What a call costs beside the request of the API, and what clients that leave cost.

use std::time::{Duration, Instant};

use anyhow::ensure;
use futures_util::future::try_join_all;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::demo_service::DemoService;
use crate::load::{Connection, Latencies, block_on};

/// Connections of the measurement of throughput.
const CONNECTIONS: usize = 16;

/// Rounds, in each of which both are measured.
const ROUNDS: usize = 5;

/// Calls one after the other in a round, for the latency.
const SINGLE_CALLS: usize = 100;

/// Time of a measurement of throughput.
const BLOCK: Duration = Duration::from_millis(500);

/// Calls whose client leaves, between two whose client stays.
const AT_ONCE: usize = 20;

/// Calls whose client leaves, before the memory is measured.
const WARM_UP: usize = 1_000;

/// Memory that the calls of clients that left may take, in megabytes: the aim, and what is a failure.
const AIM_MB: f64 = 5.0;
const LIMIT_MB: f64 = 15.0;

/// A call in the modern era.
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ListTracks","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const HEADERS: &str = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: ListTracks\r\n";

/// Sends the request of the API, or the call of its tool.
async fn send(connection: &mut Connection, by_tool: bool) -> anyhow::Result<()> {
    let status = match by_tool {
        true => connection.request_with("POST", "/mcp", HEADERS, CALL).await?,
        false => connection.send("GET", "/tracks", "").await?,
    };
    ensure!(status == 200, "the status was {status}");
    Ok(())
}

/// Prints latency and throughput of `ListTracks` beside those of `GET /tracks`. Machines differ, so they are not asserted.
pub(super) fn measure(demo: &DemoService) -> anyhow::Result<()> {
    let port = demo.port()?;
    let (mut times, mut counts) = ([Vec::new(), Vec::new()], [0_usize; 2]);
    block_on(async {
        let mut connection = Connection::open(port, "localhost", &demo.key).await?;
        for _ in 0..ROUNDS {
            for (by_tool, times) in [false, true].into_iter().zip(&mut times) {
                for _ in 0..SINGLE_CALLS {
                    let start = Instant::now();
                    send(&mut connection, by_tool).await?;
                    times.push(start.elapsed());
                }
            }
            for (by_tool, count) in [false, true].into_iter().zip(&mut counts) {
                let callers = (0..CONNECTIONS).map(|_| async move {
                    let mut connection = Connection::open(port, "localhost", &demo.key).await?;
                    let (began, mut sent) = (Instant::now(), 0);
                    while began.elapsed() < BLOCK {
                        send(&mut connection, by_tool).await?;
                        sent += 1;
                    }
                    anyhow::Ok(sent)
                });
                *count += try_join_all(callers).await?.into_iter().sum::<usize>();
            }
        }
        anyhow::Ok(())
    })?;
    let [api, tool] = times.map(|times| Latencies::from_iter(times).millis(50));
    #[expect(clippy::cast_precision_loss)]
    let [of_api, of_tool] = counts.map(|count| count as f64);
    println!(
        "ListTracks: p50 {tool:.2} ms, GET /tracks {api:.2} ms, {:.2} ms more (aim: at most 1); throughput {:.2} of it (aim: \
         at least 0.7)",
        tool - api,
        of_tool / of_api
    );
    Ok(())
}

/// Makes calls whose client closes the connection at once. The service must forget them.
pub(super) fn leave(demo: &DemoService, number: usize) -> anyhow::Result<()> {
    let port = demo.port()?;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {}\r\nContent-Type: application/json\r\n{HEADERS}Content-Length: \
         {}\r\n\r\n{CALL}",
        demo.key,
        CALL.len()
    );
    let leave = async |number: usize| {
        for left in 0..number {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
            stream.write_all(request.as_bytes()).await?;
            if left % AT_ONCE == 0 {
                // Otherwise the buffers of all connections at the same time would be measured.
                send(&mut Connection::open(port, "localhost", &demo.key).await?, true).await?;
            }
        }
        anyhow::Ok(())
    };
    block_on(leave(WARM_UP))?;
    let before = demo.process.resident_mb()?;
    block_on(leave(number))?;
    let more = demo.process.resident_mb()? - before;
    println!("{number} calls whose client left: {more:+.1} MB of memory (aim: at most {AIM_MB})");
    ensure!(more < LIMIT_MB, "clients that left cost {more:.1} MB of memory");
    Ok(())
}
