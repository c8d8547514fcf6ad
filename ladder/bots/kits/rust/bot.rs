// A first bot: it plays any legal action, each as likely as the others.
// It needs no JSON library: the strings of "legal" hold no quotes of their own.
use std::io::{self, BufRead, Write};

fn between<'a>(line: &'a str, from: &str, to: char) -> &'a str {
    let start = match line.find(from) {
        Some(place) => place + from.len(),
        None => return "",
    };
    let rest = &line[start..];
    &rest[..rest.find(to).unwrap_or(rest.len())]
}

fn below(seed: &mut u64, bound: u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 11) % bound
}

fn main() -> io::Result<()> {
    let mut seed: u64 = 88172645463325252;
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.contains("\"type\":\"hello\"") {
            for byte in between(&line, "\"seed\":\"", '"').bytes() {
                seed = seed.wrapping_mul(31).wrapping_add(byte as u64);
            }
            seed |= 1;
            writeln!(out, "{{\"type\":\"ready\"}}")?;
        } else if line.contains("\"type\":\"decide\"") {
            let legal = between(&line, "\"legal\":[", ']');
            let actions = legal.matches('"').count() as u64 / 2;
            writeln!(out, "{{\"index\":{}}}", below(&mut seed, actions.max(1)))?;
        }
        out.flush()?;
    }
    Ok(())
}
