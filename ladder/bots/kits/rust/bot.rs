// A first bot for Torres: it plays any legal action, all with the same probability.
//
// The referee writes one JSON object on each line of stdin, and the bot answers with one
// on each line of stdout. Only answers may go to stdout: use eprintln! to log.
// Everything about the messages is in docs/protocol.md.
//
// The bot counts the legal actions and answers with an index, so that it needs no JSON
// library. To read the state of the board, you have to write a parser.
use std::io::{self, BufRead, Write};

/// Return what stands between the text `from` and the next `to`; empty if it is missing.
fn between<'a>(line: &'a str, from: &str, to: char) -> &'a str {
    let start = match line.find(from) {
        Some(place) => place + from.len(),
        None => return "",
    };
    let rest = &line[start..];
    &rest[..rest.find(to).unwrap_or(rest.len())]
}

/// Return a random number from 0 to bound - 1 (xorshift).
fn below(seed: &mut u64, bound: u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 11) % bound
}

fn main() -> io::Result<()> {
    let mut seed: u64 = 88172645463325252; // any number but 0
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.contains("\"type\":\"hello\"") {
            // All randomness comes from this seed, so that a game can be repeated.
            for byte in between(&line, "\"seed\":\"", '"').bytes() {
                seed = seed.wrapping_mul(31).wrapping_add(byte as u64);
            }
            seed |= 1;
            writeln!(out, "{{\"type\":\"ready\"}}")?;
        } else if line.contains("\"type\":\"decide\"") {
            // Your ideas go here. An answer may also name its actions, as in
            // {"actions":["move b3 b4","end"]}.
            let legal = between(&line, "\"legal\":[", ']');
            // Each action is a string between two quotes, and has none of its own.
            let actions = legal.matches('"').count() as u64 / 2;
            writeln!(out, "{{\"index\":{}}}", below(&mut seed, actions.max(1)))?;
        }
        // Without this the answer could stay in a buffer, and time would run out.
        out.flush()?;
    }
    Ok(())
}
