//! Commands to a whole Chromium (<https://chromedevtools.github.io/devtools-protocol/>), which chromedriver passes only
//! to its pages.

use std::io::{BufRead, BufReader, Error, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::serving::{agent, read};

/// A WebSocket to Chromium (<https://www.rfc-editor.org/rfc/rfc6455>), which has one command under way at a time.
struct DevTools {
    to: TcpStream,
    from: BufReader<TcpStream>,
}

impl DevTools {
    /// Connects to the Chromium whose commands are at this host and port.
    fn connect(address: &str) -> std::io::Result<DevTools> {
        let response = agent().get(format!("http://{address}/json/version")).call();
        let (_, version) = read(Ok(response.map_err(Error::other)?));
        let url =
            version["webSocketDebuggerUrl"].as_str().ok_or_else(|| Error::other(format!("no address: {version}")))?;
        let path = url.trim_start_matches("ws://").trim_start_matches(address);
        let to = TcpStream::connect(address)?;
        let mut socket = DevTools { from: BufReader::new(to.try_clone()?), to };
        write!(
            socket.to,
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )?;
        let mut line = String::new();
        while socket.from.read_line(&mut line)? > 2 {
            line.clear();
        }
        Ok(socket)
    }

    /// Sends a command. Returns its result.
    fn send(&mut self, method: &str, parameters: &Value) -> std::io::Result<Value> {
        let message = json!({ "id": 1, "method": method, "params": parameters }).to_string();
        let length = u16::try_from(message.len()).expect("a short command");
        // A whole text, with a length of two bytes and a mask of zeros.
        let head = [&[0x81, 0x80 | 126][..], &length.to_be_bytes(), &[0; 4], message.as_bytes()];
        self.to.write_all(&head.concat())?;
        let mut answer = self.receive()?;
        match (&answer["id"], &answer["error"]) == (&json!(1), &Value::Null) {
            true => Ok(answer["result"].take()),
            false => Err(Error::other(format!("{method}: {answer}"))),
        }
    }

    /// Receives a text, whose length is in its second byte, or behind it.
    fn receive(&mut self) -> std::io::Result<Value> {
        let mut head = [0; 2];
        self.from.read_exact(&mut head)?;
        let length = match head[1] {
            126 => {
                let mut length = [0; 2];
                self.from.read_exact(&mut length)?;
                u16::from_be_bytes(length)
            }
            short => u16::from(short),
        };
        let mut message = vec![0; usize::from(length)];
        self.from.read_exact(&mut message)?;
        Ok(serde_json::from_slice(&message)?)
    }
}

/// A new profile in a running Chromium, which is kept in memory.
pub(super) struct Profile {
    devtools: DevTools,
    name: Value,
}

impl Profile {
    /// Opens a window of this size in a new profile. Returns both.
    pub(super) fn open(address: &str, width: u32, height: u32) -> std::io::Result<(Profile, Value)> {
        let mut devtools = DevTools::connect(address)?;
        let name = devtools.send("Target.createBrowserContext", &json!({}))?["browserContextId"].take();
        let window = json!({ "url": "about:blank", "browserContextId": name, "newWindow": true,
            "width": width, "height": height });
        let window = devtools.send("Target.createTarget", &window)?["targetId"].take();
        Ok((Profile { devtools, name }, window))
    }

    /// Closes its windows, and forgets what it has kept.
    pub(super) fn close(mut self) -> std::io::Result<()> {
        self.devtools.send("Target.disposeBrowserContext", &json!({ "browserContextId": self.name })).map(drop)
    }
}
