// A first bot for Torres: it plays any legal action, but never ends a turn early.
//
// The referee writes one JSON object on each line of stdin, and the bot answers with one
// on each line of stdout. Only answers may go to stdout: use eprintln! to log.
// Everything about the messages is in docs/protocol.md.
//
// The bot reads only the list of legal actions, so that it needs no JSON library. To read
// the state of the board, write a parser in a module: `mod json;` includes json.rs.
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

/// Random numbers (xorshift). All randomness comes from the seed in "hello", so that a
/// game can be repeated.
struct Random(u64);

impl Random {
    fn new(hello: &str) -> Random {
        let mut state: u64 = 88172645463325252; // any number but 0
        for byte in between(hello, "\"seed\":\"", '"').bytes() {
            state = state.wrapping_mul(31).wrapping_add(byte as u64);
        }
        Random(state | 1)
    }

    /// Return a random number from 0 to bound - 1.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

/// Return the legal actions of a message. They have no quotes and no brackets.
fn read_legal(line: &str) -> Vec<&str> {
    let list = between(line, "\"legal\":[", ']');
    // Every second piece stands between two quotes; the others are commas.
    list.split('"').skip(1).step_by(2).collect()
}

/// Return your action. This is the place for your ideas.
///
/// Actions have words, as in "move b3 b4" or "block c4".
fn choose<'a>(legal: &[&'a str], random: &mut Random) -> &'a str {
    let going_on: Vec<&str> =
        legal.iter().copied().filter(|action| !action.starts_with("end")).collect();
    let actions = if going_on.is_empty() { legal } else { &going_on };
    actions[random.below(actions.len())]
}

/// Speak the protocol: hello, decide, decide, ..., end. After "end" the referee closes
/// stdin: then this loop ends, and so does the bot.
fn main() -> io::Result<()> {
    let mut random = Random::new("");
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.contains("\"type\":\"hello\"") {
            random = Random::new(&line);
            writeln!(out, "{{\"type\":\"ready\"}}")?;
        } else if line.contains("\"type\":\"decide\"") {
            // An answer may hold a whole turn: {"actions":["move b3 b4","end"]}.
            let action = choose(&read_legal(&line), &mut random);
            writeln!(out, "{{\"actions\":[\"{}\"]}}", action)?;
        }
        // Without this the answer could stay in a buffer, and time would run out.
        out.flush()?;
    }
    Ok(())
}

// The README has the command that runs these tests.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_the_legal_actions() {
        let line = r#"{"type":"decide","legal":["block c4","buy","end"],"clock":{}}"#;
        assert_eq!(read_legal(line), ["block c4", "buy", "end"]);
    }

    #[test]
    fn it_goes_on_while_it_can() {
        let mut random = Random::new("");
        for _ in 0..50 {
            assert_ne!(choose(&["block c4", "buy", "end"], &mut random), "end");
        }
        assert!(choose(&["end 3,2", "end 3,3"], &mut random).starts_with("end 3,"));
    }

    #[test]
    fn the_same_seed_gives_the_same_game() {
        let hello = r#"{"type":"hello","seed":"9f"}"#;
        assert_eq!(Random::new(hello).below(1000), Random::new(hello).below(1000));
    }
}
