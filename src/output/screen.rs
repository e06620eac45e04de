//! A stream of JSON on its way to a terminal. JSON escapes the control characters of ASCII but two kinds: DEL and those beyond
//! ASCII, which some terminals obey. They are replaced by marks of the same length; a file or a pipe gets them as they are.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;

/// First byte, in UTF-8, of the control characters U+0080 to U+009F.
const C1_LEAD: u8 = 0xC2;

/// Writes on, without what a terminal would obey.
pub(crate) struct Screen<W> {
    to: W,
    /// The last byte written.
    before: u8,
}

impl<W> Screen<W> {
    /// On its way to this.
    pub(crate) fn new(to: W) -> Self {
        Self { to, before: 0 }
    }
}

/// The bytes, behind `before`, as they are shown.
fn shown(mut before: u8, bytes: &[u8]) -> Vec<u8> {
    let show = |byte: &u8| {
        let shown = match (before, *byte) {
            (C1_LEAD, 0x80..=0x9F) => 0xBF,
            (_, 0x7F) => b'?',
            (_, byte) => byte,
        };
        before = *byte;
        shown
    };
    bytes.iter().map(show).collect()
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Screen<W> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let shown = shown(self.before, bytes);
        let written = std::task::ready!(Pin::new(&mut self.to).poll_write(context, &shown))?;
        if let Some(last) = written.checked_sub(1).and_then(|last| bytes.get(last)) {
            self.before = *last;
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.to).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.to).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt as _;

    #[tokio::test]
    async fn what_a_terminal_would_obey_is_marked_wherever_a_write_ends() {
        let text = "{\"a\":\"\u{9b}2J \u{7f} é\u{a0}\u{c2}\"}".as_bytes();
        for cut in 0..text.len() {
            let mut screen = Screen::new(Vec::new());
            screen.write_all(&text[..cut]).await.unwrap();
            screen.write_all(&text[cut..]).await.unwrap();
            assert_eq!(String::from_utf8(screen.to).unwrap(), "{\"a\":\"¿2J ? é\u{a0}\u{c2}\"}");
        }
    }
}
