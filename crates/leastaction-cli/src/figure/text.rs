//! Text: from strings to widths in pixels, shortened strings, escaped XML and formatted numbers.
//!
//! Layout needs widths before anything is rasterised. They are the advances of DejaVu
//! Sans, the font embedded for PNG; a browser without it falls back to a font that is at
//! most as wide, so that nothing overlaps there either.

/// Advances of the characters U+0020 to U+007E in thousandths of the font size.
const ADVANCE: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636,
    636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295,
    295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838,
    500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521,
    392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// Width of one character in thousandths of the font size.
fn advance(c: char) -> f64 {
    let code = c as usize;
    if (32..127).contains(&code) {
        return f64::from(ADVANCE[code - 32]);
    }
    match c {
        '\u{300}'..='\u{36f}' => 0.0, // combining dots and hats
        '·' => 318.0,
        '²' | '³' | '¹' | '⁰'..='⁹' | '₀'..='₉' => 401.0,
        '⁻' => 528.0,
        '−' | '×' | 'ω' | '≤' | '≥' | '→' | '±' => 838.0,
        '\u{370}'..='\u{3ff}' => 660.0,
        '…' => 1000.0,
        '\u{2e80}'.. => 1000.0, // ideographs, emoji
        _ => 640.0,
    }
}

/// Width of a text in pixels at a font size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size / 1000.0
}

/// The text, cut and ended with an ellipsis if it is wider than `room` pixels.
pub(crate) fn fit(text: &str, size: f64, room: f64) -> String {
    // a cut at a fixed length first, so that a pathological name costs nothing
    let text: String = text.chars().take(400).collect();
    if width(&text, size) <= room {
        return text;
    }
    let mut kept = String::new();
    let mut used = width("…", size);
    for c in text.chars() {
        used += advance(c) * size / 1000.0;
        if used > room {
            break;
        }
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

/// The text in lines no wider than `room` pixels, broken at spaces; the last of `most` lines is cut.
pub(crate) fn wrapped(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let count = lines.len();
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            // what is too much for the last line is shown to be missing
            Some(line) if count == most => {
                *line = fit(&format!("{line} {word}"), size, room);
                break;
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| fit(line, size, room)).collect()
}

/// The text with the five characters of XML escaped and control characters left out.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            // characters that XML 1.0 does not allow even escaped
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

/// The text in pieces, each with whether it is a subscript: `p_θ [rad]` has the subscript θ,
/// `p_x_sun` the subscript x_sun.
/// Only a symbol of up to three letters takes a subscript, so that snake_case words stay as they are.
pub(crate) fn subscripts(words: &str) -> Vec<(String, bool)> {
    let mut pieces: Vec<(String, bool)> = Vec::new();
    let mut plain = String::new();
    let mut rest = words;
    while let Some((before, after)) = rest.split_once('_') {
        plain.push_str(before);
        let symbol = plain.chars().rev().take_while(|c| c.is_alphanumeric()).count();
        let end = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
        if (1..=3).contains(&symbol) && (1..=12).contains(&after[..end].chars().count()) {
            pieces.push((std::mem::take(&mut plain), false));
            pieces.push((after[..end].to_owned(), true));
            rest = &after[end..];
        } else {
            plain.push('_');
            rest = after;
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push((plain, false));
    }
    pieces
}

/// "10⁻¹²".
pub(crate) fn power_of_ten(exponent: i32) -> String {
    let mut out = String::from("10");
    for c in exponent.to_string().chars() {
        out.push(match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '4' => '⁴',
            '5' => '⁵',
            '6' => '⁶',
            '7' => '⁷',
            '8' => '⁸',
            '9' => '⁹',
            _ => '⁰',
        });
    }
    out
}

/// A number with fixed decimals and a true minus sign; "−0.0" becomes "0.0".
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let plain = format!("{value:.decimals$}");
    match plain.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|b| b == b'0' || b == b'.') => digits.to_owned(),
        Some(digits) => format!("−{digits}"),
        None => plain,
    }
}

/// A number with up to three significant digits, for words in titles: "0.25", "1.2×10⁻⁶".
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { value.to_string() };
    }
    // the exponent after rounding to three digits: 9.999 is 10.0
    let rounded = format!("{value:.2e}");
    let (digits, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |s: String| {
        if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').to_owned() } else { s }
    };
    if (-3..5).contains(&exponent) {
        return trim(fixed(value, (2 - exponent).max(0) as usize));
    }
    format!("{}×{}", trim(digits.replace('-', "−")), power_of_ten(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaping_covers_markup_and_drops_control_characters() {
        assert_eq!(escape("a<b> & \"c\"'\u{0}\u{7}\n"), "a&lt;b&gt; &amp; &quot;c&quot;&#39; ");
    }

    #[test]
    fn long_text_is_cut_to_the_room() {
        let name = "a very long name ".repeat(100);
        let cut = fit(&name, 12.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 100.0 && cut.len() > 8, "{cut}");
        assert_eq!(fit("short", 12.0, 100.0), "short");
        assert_eq!(fit("anything", 12.0, -5.0), "…");
    }

    #[test]
    fn symbols_take_subscripts_and_words_do_not() {
        let pieces = |s: &str| {
            subscripts(s)
                .into_iter()
                .map(|(p, low)| if low { format!("({p})") } else { p })
                .collect::<Vec<_>>()
        };
        assert_eq!(pieces("p_θ [rad]"), ["p", "(θ)", " [rad]"]);
        assert_eq!(pieces("|q_12|"), ["|q", "(12)", "|"]);
        assert_eq!(pieces("p_x_sun"), ["p", "(x_sun)"]);
        assert_eq!(pieces("relative_error and _x_"), ["relative_error and _x_"]);
        assert_eq!(pieces(""), Vec::<String>::new());
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(power_of_ten(-12), "10⁻¹²");
        assert_eq!(fixed(-0.04, 1), "0.0");
        assert_eq!(fixed(-1.25, 2), "−1.25");
        assert_eq!(short(0.25), "0.25");
        assert_eq!(short(-1.2e-6), "−1.2×10⁻⁶");
        assert_eq!(short(1000.0), "1000");
        assert_eq!(short(9.9999e11), "1×10¹²");
        assert_eq!(short(5e-324), "4.94×10⁻³²⁴");
        assert_eq!(short(0.0), "0");
    }
}
