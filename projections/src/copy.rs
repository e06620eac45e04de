//! Rows on their way into a table by `COPY … (FORMAT binary)`.
//!
//! A row is encoded where it is made, so that its texts are not held twice, and the server takes rows as they are, many to a page
//! and to a record of its log. With `INSERT … SELECT FROM unnest(…)` before it, an import of 200 MB took a quarter longer.
//!
//! Layout (PostgreSQL documentation, COPY, "Binary Format"): a header, then for each row the number of its fields and each field
//! with its length before it, -1 for null, then a trailer. Numbers are big-endian.

use crate::error::ApplyError;
use sqlx::PgConnection;
use uuid::Uuid;

/// Signature, flags, and length of the header's extension: none.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Where a row would begin: the end.
const TRAILER: &[u8] = &[0xff, 0xff];
/// Bytes handed to the server at a time. It works on one while the next is made.
const CHUNK_BYTES: usize = 64 * 1024;
/// `int4` in `pg_type`.
const INT4_OID: i32 = 23;
/// Base of the digits that a `numeric` is sent in.
const NUMERIC_BASE: u64 = 10_000;

/// Rows of one table. Each belongs to a trace, so that those of a trace can be taken out again.
#[derive(Default)]
pub(crate) struct CopyRows {
    bytes: Vec<u8>,
    /// The trace of each row, and where it begins.
    rows: Vec<(Uuid, usize)>,
}

impl CopyRows {
    /// Begins a row; it counts once it is [ended](Row::end).
    pub(crate) fn row(&mut self, trace: Uuid) -> Row<'_> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 2]);
        Row { rows: self, trace, start, fields: 0, fits: true }
    }

    /// Takes a trace's rows out.
    pub(crate) fn remove(&mut self, trace: Uuid) {
        let bytes = std::mem::take(&mut self.bytes);
        let rows = std::mem::take(&mut self.rows);
        let ends = rows.iter().skip(1).map(|(_, start)| *start).chain([bytes.len()]);
        for (&(of, start), end) in rows.iter().zip(ends) {
            if of != trace {
                self.rows.push((of, self.bytes.len()));
                self.bytes.extend_from_slice(bytes.get(start..end).unwrap_or_default());
            }
        }
    }

    /// Writes them. `statement`: a `COPY table (columns in the order of the fields) FROM STDIN (FORMAT binary)`.
    pub(crate) async fn write(self, tx: &mut PgConnection, statement: &str) -> Result<(), ApplyError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut copy = tx.copy_in_raw(statement).await?;
        copy.send(HEADER).await?;
        for chunk in self.bytes.chunks(CHUNK_BYTES) {
            copy.send(chunk).await?;
        }
        copy.send(TRAILER).await?;
        copy.finish().await?;
        Ok(())
    }
}

/// A row being encoded, field by field.
#[must_use = "a row counts once it is ended"]
pub(crate) struct Row<'a> {
    rows: &'a mut CopyRows,
    trace: Uuid,
    start: usize,
    fields: i16,
    fits: bool,
}

impl Row<'_> {
    /// `bytea`, and `text` and `uuid` as bytes.
    pub(crate) fn bytes(mut self, value: &[u8]) -> Self {
        match i32::try_from(value.len()) {
            Ok(length) => self.begin(length),
            Err(_) => self.fits = false,
        }
        self.rows.bytes.extend_from_slice(value);
        self
    }

    /// The same, or null.
    pub(crate) fn maybe(mut self, value: Option<&[u8]>) -> Self {
        match value {
            Some(value) => self.bytes(value),
            None => {
                self.begin(-1);
                self
            }
        }
    }

    /// `uuid`.
    pub(crate) fn uuid(self, value: Uuid) -> Self {
        self.bytes(value.as_bytes())
    }

    /// `text`.
    pub(crate) fn text(self, value: &str) -> Self {
        self.bytes(value.as_bytes())
    }

    /// `text`, or null.
    pub(crate) fn maybe_text(self, value: Option<&str>) -> Self {
        self.maybe(value.map(str::as_bytes))
    }

    /// `integer`.
    pub(crate) fn int(self, value: i32) -> Self {
        self.bytes(&value.to_be_bytes())
    }

    /// `smallint`, or null.
    pub(crate) fn maybe_short(self, value: Option<i16>) -> Self {
        self.maybe(value.map(i16::to_be_bytes).as_ref().map(<[u8; 2]>::as_slice))
    }

    /// `boolean`.
    pub(crate) fn flag(self, value: bool) -> Self {
        self.bytes(&[u8::from(value)])
    }

    /// `bigint`, or null.
    pub(crate) fn maybe_long(self, value: Option<i64>) -> Self {
        self.maybe(value.map(i64::to_be_bytes).as_ref().map(<[u8; 8]>::as_slice))
    }

    /// `bigint`.
    pub(crate) fn long(self, value: i64) -> Self {
        self.bytes(&value.to_be_bytes())
    }

    /// `numeric` without a fraction: number of digits in base 10,000, weight of the first, sign, scale, digits.
    pub(crate) fn numeric(mut self, value: u64) -> Self {
        // 10,000^5 is above the largest value.
        let mut digits = [0_u16; 5];
        let mut count: u16 = 0;
        let mut rest = value;
        for digit in digits.iter_mut().rev() {
            if rest == 0 {
                break;
            }
            *digit = u16::try_from(rest % NUMERIC_BASE).unwrap_or_default();
            rest /= NUMERIC_BASE;
            count += 1;
        }
        self.begin(8 + 2 * i32::from(count));
        let bytes = &mut self.rows.bytes;
        for head in [count, count.saturating_sub(1), 0, 0] {
            bytes.extend_from_slice(&head.to_be_bytes());
        }
        for digit in digits.iter().skip(digits.len() - usize::from(count)) {
            bytes.extend_from_slice(&digit.to_be_bytes());
        }
        self
    }

    /// `integer[]`: dimensions, whether any is null, type, then length and lowest index of the dimension, then the elements.
    pub(crate) fn ints(mut self, values: &[i32]) -> Self {
        let count = i32::try_from(values.len()).unwrap_or(i32::MAX);
        let dimensions = i32::from(count > 0);
        match count.checked_mul(8).and_then(|bytes| bytes.checked_add(12 + 8 * dimensions)) {
            Some(length) => self.begin(length),
            None => self.fits = false,
        }
        let bytes = &mut self.rows.bytes;
        for head in [dimensions, 0, INT4_OID] {
            bytes.extend_from_slice(&head.to_be_bytes());
        }
        if dimensions > 0 {
            bytes.extend_from_slice(&count.to_be_bytes());
            bytes.extend_from_slice(&1_i32.to_be_bytes());
        }
        for value in values {
            bytes.extend_from_slice(&4_i32.to_be_bytes());
            bytes.extend_from_slice(&value.to_be_bytes());
        }
        self
    }

    /// Ends the row.
    ///
    /// # Errors
    /// Poison: a field has 2 GiB or more. The row is left out.
    pub(crate) fn end(self) -> Result<(), ApplyError> {
        let Self { rows, trace, start, fields, fits } = self;
        if !fits {
            rows.bytes.truncate(start);
            return Err(ApplyError::poison("field_too_large", "a field has 2 GiB or more"));
        }
        if let Some(count) = rows.bytes.get_mut(start..start + 2) {
            count.copy_from_slice(&fields.to_be_bytes());
        }
        rows.rows.push((trace, start));
        Ok(())
    }

    fn begin(&mut self, length: i32) {
        self.fields += 1;
        self.rows.bytes.extend_from_slice(&length.to_be_bytes());
    }
}
