//! A lean HTTP/1.1 client: one connection, one request at a time, prepared bytes, nothing allocated per exchange.
//!
//! It reads answers as far as the load needs them: status, length, end. It is not a general client.

mod connection;
mod head;
mod request;

pub use connection::{Answer, Connection};
pub use request::{Format, RequestWriter};
