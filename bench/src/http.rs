//! A small HTTP/1.1 client over one connection that stays open. The load generator shares the cores with what it measures, so
//! it does no more than these figures need: plain TCP, one request at a time, three headers read.

use anyhow::{Context as _, bail, ensure};
use serde::de::DeserializeOwned;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Bytes of an answer's head; ours have a few hundred.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Bytes of an answer's body; the largest is the list of an import's trace ids, 40 bytes each.
const BODY_BYTES_MAX: usize = 64 << 20;

/// How long an answer may take, that to an import of a gigabyte included.
const ANSWER_MAX: Duration = Duration::from_secs(1800);

/// Bytes of a file that are sent at once.
const SEND_BYTES: usize = 256 * 1024;

/// The API's routes begin with this.
const BASE: &str = "/api/v1/rm";

/// Where a server is and the key it lets in.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Its address.
    pub(crate) address: SocketAddr,
    /// An API key.
    pub(crate) key: String,
}

/// An answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Its status.
    pub(crate) status: u16,
    /// `X-Stash-Position`.
    pub(crate) position: Option<String>,
    /// Its body.
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The body as JSON, if the status is the expected one.
    pub(crate) fn json<T: DeserializeOwned>(&self, expected: u16) -> anyhow::Result<T> {
        self.expect(expected)?;
        serde_json::from_slice(&self.body).context("the answer's body is not what it should be")
    }

    /// Fails with the answer's own words if the status is another one.
    pub(crate) fn expect(&self, status: u16) -> anyhow::Result<()> {
        ensure!(self.status == status, "answered with {}: {}", self.status, String::from_utf8_lossy(&self.body));
        Ok(())
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    key: String,
    /// The request that is sent next; kept to be filled again.
    request: Vec<u8>,
    /// What was read and not yet used.
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub(crate) async fn open(access: &Access) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(access.address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            key: access.key.clone(),
            request: Vec::with_capacity(1024),
            buffer: Vec::with_capacity(4096),
        })
    }

    /// A read of the API, no older than the position.
    pub(crate) async fn get(&mut self, path: &str, position: Option<&str>) -> anyhow::Result<Answer> {
        let (name, value) = position.map_or(("", ""), |position| ("X-Stash-Min-Position: ", position));
        let end = if position.is_some() { "\r\n" } else { "" };
        self.begin("GET", &[BASE, path], format_args!("{name}{value}{end}"));
        self.exchange().await
    }

    /// A read of a route beside the API.
    pub(crate) async fn get_plain(&mut self, path: &str) -> anyhow::Result<Answer> {
        self.begin("GET", &[path], format_args!(""));
        self.exchange().await
    }

    /// A command of the API.
    pub(crate) async fn post(&mut self, path: &str, body: &[u8]) -> anyhow::Result<Answer> {
        self.post_as(path, "application/json", body).await
    }

    /// A request of a route beside the API.
    pub(crate) async fn post_plain(&mut self, path: &str, kind: &str, body: &[u8]) -> anyhow::Result<Answer> {
        let length = body.len();
        self.begin("POST", &[path], format_args!("Content-Type: {kind}\r\nContent-Length: {length}\r\n"));
        self.request.extend_from_slice(body);
        self.exchange().await
    }

    /// A request of the API whose body is of this media type.
    pub(crate) async fn post_as(&mut self, path: &str, kind: &str, body: &[u8]) -> anyhow::Result<Answer> {
        let length = body.len();
        let fields = format_args!("Content-Type: {kind}\r\nContent-Length: {length}\r\n");
        self.begin("POST", &[BASE, path], fields);
        self.request.extend_from_slice(body);
        self.exchange().await
    }

    /// A command of the API whose body is a file of JSON lines.
    pub(crate) async fn post_file(&mut self, path: &str, file: &Path) -> anyhow::Result<Answer> {
        let mut file = tokio::fs::File::open(file).await.context("the body cannot be opened")?;
        let length = file.metadata().await?.len();
        let fields = format_args!("Content-Type: application/jsonl\r\nContent-Length: {length}\r\n");
        self.begin("POST", &[BASE, path], fields);
        self.stream.write_all(&self.request).await?;
        let mut piece = vec![0; SEND_BYTES];
        loop {
            let count = file.read(&mut piece).await?;
            if count == 0 {
                break;
            }
            if let Err(error) = self.stream.write_all(&piece[..count]).await {
                // A server that refuses a body says why before it closes.
                return self.answer().await.with_context(|| format!("sending broke off: {error}"));
            }
        }
        self.answer().await
    }

    fn begin(&mut self, method: &str, path: &[&str], fields: std::fmt::Arguments<'_>) {
        self.request.clear();
        let out = &mut self.request;
        // Writing into memory does not fail.
        let _ = write!(out, "{method} ");
        path.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
        let _ = write!(out, " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\n{fields}\r\n", self.key);
    }

    async fn exchange(&mut self) -> anyhow::Result<Answer> {
        self.stream.write_all(&self.request).await.context("the request cannot be sent")?;
        self.answer().await
    }

    async fn answer(&mut self) -> anyhow::Result<Answer> {
        tokio::time::timeout(ANSWER_MAX, self.read_answer()).await.context("no answer in time")?
    }

    async fn read_answer(&mut self) -> anyhow::Result<Answer> {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            ensure!(self.buffer.len() < HEAD_BYTES_MAX, "the answer's head does not end");
            self.fill().await?;
        };
        let head = Head::read(&self.buffer[..end])?;
        self.buffer.drain(..end);
        let body = match head.length {
            Length::Known(length) => self.take(length).await?,
            Length::Chunked => self.take_chunks().await?,
        };
        Ok(Answer { status: head.status, position: head.position, body })
    }

    async fn take_chunks(&mut self) -> anyhow::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = loop {
                if let Some(at) = self.buffer.windows(2).position(|two| two == b"\r\n") {
                    break at;
                }
                ensure!(self.buffer.len() < HEAD_BYTES_MAX, "a chunk's size does not end");
                self.fill().await?;
            };
            let text = std::str::from_utf8(&self.buffer[..line])?;
            let size = usize::from_str_radix(text.trim(), 16).context("a chunk's size is no number")?;
            ensure!(body.len() + size <= BODY_BYTES_MAX, "the answer is too large");
            self.buffer.drain(..line + 2);
            let chunk = self.take(size).await?;
            self.take(2).await?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk);
        }
    }

    async fn take(&mut self, length: usize) -> anyhow::Result<Vec<u8>> {
        ensure!(length <= BODY_BYTES_MAX, "the answer is too large");
        while self.buffer.len() < length {
            self.fill().await?;
        }
        Ok(self.buffer.drain(..length).collect())
    }

    async fn fill(&mut self) -> anyhow::Result<()> {
        if self.stream.read_buf(&mut self.buffer).await.context("the answer cannot be read")? == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Length {
    Known(usize),
    Chunked,
}

/// What we read of an answer's head.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    position: Option<String>,
    length: Length,
}

impl Head {
    fn read(bytes: &[u8]) -> anyhow::Result<Self> {
        let text = std::str::from_utf8(bytes).context("the answer's head is no text")?;
        let mut lines = text.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let status = first.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.with_context(|| format!("no HTTP answer: {first:?}"))?;
        let mut head = Self { status, position: None, length: Length::Known(0) };
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                head.length = Length::Known(value.parse().context("the answer's length is no number")?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                head.length = Length::Chunked;
            } else if name.eq_ignore_ascii_case("x-stash-position") {
                head.position = Some(value.to_owned());
            }
        }
        Ok(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// Answers each request with the next text and returns what a client of it got.
    async fn answers(texts: &'static [&'static str]) -> Vec<Answer> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let access = Access { address: listener.local_addr().unwrap(), key: "k".to_owned() };
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            for text in texts {
                let mut seen = Vec::new();
                while !seen.ends_with(b"\r\n\r\n") {
                    stream.read_buf(&mut seen).await.unwrap();
                }
                assert!(String::from_utf8(seen).unwrap().contains("Authorization: Bearer k\r\n"));
                // Byte by byte, since an answer may come in any pieces.
                for byte in text.as_bytes() {
                    stream.write_all(&[*byte]).await.unwrap();
                }
            }
        });
        let mut connection = Connection::open(&access).await.unwrap();
        let mut got = Vec::new();
        for _ in texts {
            got.push(connection.get("/x", Some("p")).await.unwrap());
        }
        server.await.unwrap();
        got
    }

    #[tokio::test]
    async fn answers_of_every_length_are_read_from_one_connection() {
        let got = answers(&[
            "HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX-Stash-Position: a.1\r\n\r\n{}",
            "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n",
            "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 3\r\n\r\nno!",
        ])
        .await;
        assert_eq!(got[0], Answer { status: 201, position: Some("a.1".to_owned()), body: b"{}".to_vec() });
        assert_eq!((got[1].status, got[1].body.len()), (204, 0));
        assert_eq!(got[2].body, b"abc0123456789");
        assert!(got[3].expect(200).unwrap_err().to_string().contains("503: no!"));
    }
}
