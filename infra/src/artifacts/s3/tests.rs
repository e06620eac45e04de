use super::upload::PART_BYTES;
use super::*;
use crate::artifacts::conformance;
use crate::config::Secret;
use crate::testing::S3Server;
use stash_domain::ids::RewardModelId;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use uuid::Uuid;

fn owner() -> OwnerId {
    OwnerId(Uuid::from_u128(1))
}

fn key() -> ArtifactKey {
    ArtifactKey::reward_model(owner(), RewardModelId(Uuid::from_u128(2)))
}

fn now() -> Timestamp {
    Timestamp(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap())
}

/// Bytes of which no two parts are alike.
fn content(length: u64) -> Vec<u8> {
    (0..length / 8).flat_map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()).collect()
}

#[tokio::test]
async fn a_bucket_is_an_artifact_store() {
    let server = S3Server::start().await;
    conformance::conforms(async |case| {
        // The server keeps an object's bucket and key in one file name, so there is little room for the bucket's.
        let name = Digest::of(case.as_bytes()).to_string()[..8].to_owned();
        Arc::new(S3Store::open(&server.bucket(&name)).await.unwrap()) as conformance::Handle
    })
    .await;
}

#[tokio::test]
async fn a_large_file_goes_up_in_parts_and_comes_back_whole() {
    let server = S3Server::start().await;
    let store = S3Store::open(&server.bucket("bucket")).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    // One part exactly, and two parts and a bit.
    for length in [PART_BYTES, 2 * PART_BYTES + 8] {
        let (from, to) = (folder.path().join("from"), folder.path().join(length.to_string()));
        let content = content(length);
        std::fs::write(&from, &content).unwrap();
        let stored = store.put_file(&key(), &from).await.unwrap();
        assert_eq!(stored, Stored { digest: Digest::of(&content), size: length });
        assert_eq!(store.get_file(&key(), &to, Some(stored.digest)).await, Ok(stored));
        assert!(std::fs::read(&to).unwrap() == content);
    }
}

#[tokio::test]
async fn an_empty_file_is_an_artifact() {
    let server = S3Server::start().await;
    let store = S3Store::open(&server.bucket("bucket")).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    std::fs::write(&from, "").unwrap();
    let stored = store.put_file(&key(), &from).await.unwrap();
    assert_eq!(store.get_file(&key(), &to, None).await, Ok(stored));
    assert_eq!(stored.size, 0);
}

#[tokio::test]
async fn objects_lie_under_keys_that_name_their_owner_first() {
    let server = S3Server::start().await;
    let store = S3Store::open(&server.bucket("bucket")).await.unwrap();
    let blob = store.put_blob(owner(), Bytes::from_static(b"bytes")).await.unwrap();
    store.put_blob(owner(), Bytes::from_static(b"bytes")).await.unwrap();
    let generations = server.folder("bucket").join(format!("blobs/{}/{}", owner(), blob.digest));
    assert_eq!(std::fs::read_dir(generations).unwrap().count(), 1, "a put removes what it supersedes");
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from");
    std::fs::write(&from, "checkpoint").unwrap();
    store.put_file(&key(), &from).await.unwrap();
    let object = format!("reward-models/{}/{}.tar.gz", Uuid::from_u128(1), Uuid::from_u128(2));
    assert_eq!(std::fs::read(server.folder("bucket").join(object)).unwrap(), b"checkpoint");
}

#[tokio::test]
async fn a_blob_with_a_flipped_byte_is_refused_and_repaired_by_the_next_put() {
    let server = S3Server::start().await;
    let store = S3Store::open(&server.bucket("bucket")).await.unwrap();
    let blob = store.put_blob(owner(), Bytes::from_static(b"bytes")).await.unwrap();
    let generations = server.folder("bucket").join(format!("blobs/{}/{}", owner(), blob.digest));
    let object = std::fs::read_dir(generations).unwrap().next().unwrap().unwrap().path();
    std::fs::write(object, b"bytez").unwrap();
    assert!(matches!(store.get_blob(owner(), blob).await, Err(ArtifactError::Damaged(_))));
    store.put_blob(owner(), Bytes::from_static(b"bytes")).await.unwrap();
    assert_eq!(store.get_blob(owner(), blob).await.unwrap(), "bytes");
}

/// The collector has looked at a blob and found it old; before it removes it, the blob is put again.
#[tokio::test]
async fn a_blob_that_is_put_while_it_is_collected_stays() {
    let server = S3Server::start().await;
    let store = S3Store::open(&server.bucket("bucket")).await.unwrap();
    let blob = store.put_blob(owner(), Bytes::from_static(b"bytes")).await.unwrap();
    let later = Timestamp(now().0 + 3_600_000_000);
    let seen = store.0.old_generations(owner(), blob.digest, later).await.unwrap();
    assert_eq!(seen.len(), 1);
    store.put_blob(owner(), Bytes::from_static(b"bytes")).await.unwrap();
    for key in seen {
        store.0.delete_object(&key).await.unwrap();
    }
    assert_eq!(store.get_blob(owner(), blob).await.unwrap(), "bytes");
    assert_eq!(store.0.old_generations(owner(), blob.digest, blob_put(&store).await).await.unwrap().len(), 0);
}

/// When the one blob was put, as a listing says.
async fn blob_put(store: &S3Store) -> Timestamp {
    store.list_blobs(owner(), None, 10).await.unwrap()[0].put_at
}

async fn get(url: &str) -> (u16, String) {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer)
}

#[tokio::test]
async fn a_link_fetches_one_artifact_for_five_minutes_and_nothing_else() {
    let server = S3Server::start().await;
    let store = S3Store::open(&server.bucket("bucket")).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from");
    std::fs::write(&from, "checkpoint").unwrap();
    store.put_file(&key(), &from).await.unwrap();
    let other = ArtifactKey::reward_model(owner(), RewardModelId(Uuid::from_u128(3)));
    store.put_file(&other, &from).await.unwrap();

    let link = store.link(&key(), now()).await.unwrap().url;
    let (status, answer) = get(&link).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer.ends_with("checkpoint") && answer.to_lowercase().contains("content-disposition: attachment"));
    let elsewhere = link.replace(&key().to_string(), &other.to_string());
    assert_eq!(get(&elsewhere).await.0, 403);
    assert_eq!(get(&link.replace("X-Amz-Expires=300", "X-Amz-Expires=3000")).await.0, 403);
    let old = store.link(&key(), Timestamp(now().0 - 301_000_000)).await.unwrap().url;
    assert_eq!(get(&old).await.0, 403);
    assert_eq!(get(&format!("{}/bucket/{}", server.endpoint, key())).await.0, 403, "the bucket is private");
}

#[tokio::test]
async fn what_is_wrong_is_told_without_the_credentials() {
    let server = S3Server::start().await;
    let there = server.bucket("bucket");
    let absent = S3Settings { bucket: "absent".to_owned(), ..there.clone() };
    assert_eq!(S3Store::open(&absent).await.err(), Some(ArtifactError::Missing("bucket absent".to_owned())));

    let mut foreign = there.clone();
    foreign.credentials.as_mut().unwrap().secret_key = Secret::new("another-secret".to_owned());
    let refused = S3Store::open(&foreign).await.err().unwrap();
    assert!(matches!(&refused, ArtifactError::Unavailable(text) if !text.contains("another-secret")), "{refused}");

    // A port that nobody listens on.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let nobody = S3Settings { endpoint: Some(format!("http://{free}")), ..there };
    let unreachable = S3Store::open(&nobody).await.err().unwrap();
    assert!(
        matches!(&unreachable, ArtifactError::Unavailable(text) if !text.contains("test-secret-key")),
        "{unreachable}"
    );
}

/// Stands between a client and the server, and cuts the first connections after this many bytes of answers.
async fn cutting(server: &str, cuts: usize, after: usize) -> String {
    let upstream = server.strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let left = Arc::new(AtomicUsize::new(cuts));
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (upstream, left) = (upstream.clone(), Arc::clone(&left));
            tokio::spawn(async move {
                let server = TcpStream::connect(upstream).await.unwrap();
                let (mut from_client, mut to_client) = client.into_split();
                let (mut from_server, mut to_server) = server.into_split();
                let up = tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_server).await });
                let mut passed = 0;
                let mut buffer = vec![0; 64 * 1024];
                while let Ok(read @ 1..) = from_server.read(&mut buffer).await {
                    if to_client.write_all(&buffer[..read]).await.is_err() {
                        break;
                    }
                    passed += read;
                    let take = |left: usize| left.checked_sub(1);
                    if passed > after && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok() {
                        break;
                    }
                }
                up.abort();
            });
        }
    });
    format!("http://{address}")
}

#[tokio::test]
async fn a_download_goes_on_where_its_connection_broke() {
    let server = S3Server::start().await;
    let direct = server.bucket("bucket");
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    let content = content(4 * 1024 * 1024);
    std::fs::write(&from, &content).unwrap();
    let stored = S3Store::open(&direct).await.unwrap().put_file(&key(), &from).await.unwrap();

    let endpoint = cutting(&server.endpoint, 3, 1024 * 1024).await;
    let broken = S3Store::open(&S3Settings { endpoint: Some(endpoint), ..direct.clone() }).await.unwrap();
    assert_eq!(broken.get_file(&key(), &to, Some(stored.digest)).await, Ok(stored));
    assert!(std::fs::read(&to).unwrap() == content);

    // One that never holds is given up, and leaves no file.
    let endpoint = cutting(&server.endpoint, usize::MAX, 64 * 1024).await;
    let hopeless = S3Store::open(&S3Settings { endpoint: Some(endpoint), ..direct }).await.unwrap();
    let again = folder.path().join("again");
    assert!(matches!(hopeless.get_file(&key(), &again, None).await, Err(ArtifactError::Unavailable(_))));
    assert!(!again.exists());
}
