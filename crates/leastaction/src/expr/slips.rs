//! What people write who know other notations, and how it is written here: `x**2`, `2x`, `x'`, `a × b`, `arcsin(x)`, `xdot`.
//!
//! Nothing here decides whether a formula is right; errors ask for advice when something cannot be read or has no meaning.

use super::parse::in_name;
use super::value::functions;

/// A slip: how many bytes of what comes next belong to it (0 if that is not known), and how it is written.
pub(super) struct Slip {
    pub(super) length: usize,
    pub(super) help: String,
}

const COMPARED: &str = "formulas have no comparisons: they are differentiated once, for all states";

/// How an event may pass zero; in a flag this stands behind its formula.
const DIRECTIONS: [&str; 3] = ["rising", "falling", "both"];

/// Words behind a number that are more likely a unit than a factor.
const UNITS: [&str; 46] = [
    "m", "mm", "cm", "km", "nm", "um", "µm", "μm", "s", "ms", "us", "ns", "sec", "min", "h", "hr", "day",
    "days", "year", "years", "yr", "kg", "g", "mg", "N", "Nm", "kN", "J", "kJ", "W", "kW", "Pa", "Hz", "kHz",
    "rad", "V", "A", "C", "T", "K", "eV", "au", "AU", "pc", "ly", "Ohm",
];

/// What is meant by a text that cannot come next, after the text before it.
pub(super) fn slip(before: &str, rest: &str) -> Option<Slip> {
    let c = rest.chars().next()?;
    let before = before.trim_end();
    let last = before.chars().next_back();
    let word = last_word(before);
    let plain = |help: &str| Some(Slip { length: c.len_utf8(), help: help.to_owned() });
    match c {
        '*' if last == Some('*') => plain("a power is written `^`: x^2"),
        '/' if last == Some('/') => plain("division is written with one `/`"),
        '\'' | '’' | '′' | '˙' | '\u{307}' | '\u{308}' => {
            let of = if word.is_empty() { "x" } else { word };
            plain(&format!("the time derivative is written dot({of})"))
        }
        '=' if rest.starts_with("==") => Some(Slip { length: 2, help: COMPARED.to_owned() }),
        '=' => plain("a formula stands without `=`; its name is the key before it"),
        '|' if last.is_none_or(|c| !in_name(c) && !matches!(c, ')' | ']')) && !rest.starts_with("||") => {
            plain("the absolute value is written abs(x), the length of a vector norm(v)")
        }
        '<' | '>' | '!' | '?' | '&' | '|' | '≤' | '≥' | '≠' | '≈' => plain(COMPARED),
        '"' | '“' | '”' | '„' | '‘' | '`' => plain("a formula has no quotes inside"),
        '×' | '⋅' | '∙' | '•' | '∗' | '✕' | '✖' => plain("multiplication is written `*`"),
        '÷' | '∕' | '⁄' => plain("division is written `/`"),
        '–' | '—' | '‐' | '‑' | '‒' => plain("a minus is written `-`"),
        '√' => plain("a root is written sqrt(x)"),
        '∑' | '∏' => plain("sums are written sum(i = 1..n, x[i]), products product(i = 1..n, x[i])"),
        '∂' | '∇' | '∫' => {
            plain("a Lagrangian is given without derivatives but dot(x), the time derivative")
        }
        '°' => plain("angles are in radians: 30° is 30*pi/180"),
        '∞' => plain("give a finite number"),
        '%' => plain("`%` has no meaning: 5 % is 0.05, and there is no remainder"),
        '\\' => plain("formulas are not LaTeX: write theta, sin(x), sqrt(x), a/b"),
        '$' | '#' | '@' | '~' => plain("it has no meaning in formulas"),
        '{' | '}' => plain("parentheses are ( ), brackets of lists and entries [ ]"),
        ':' if let Some(direction) = DIRECTIONS.into_iter().find(|word| rest[1..].trim() == *word) => {
            let of = if before.len() < 60 { before } else { "…" };
            let help = format!("write {{ of = \"{of}\", direction = \"{direction}\" }} for the event");
            Some(Slip { length: rest.trim_end().len(), help })
        }
        '.' if last.is_some_and(|c| c.is_ascii_digit()) && !rest.starts_with("..") => {
            plain("a number has one decimal point")
        }
        ',' if last.is_some_and(|c| c.is_ascii_digit())
            && rest[1..].starts_with(|c: char| c.is_ascii_digit()) =>
        {
            plain("a decimal point is written `.`; a list stands in brackets: [a, b]")
        }
        '(' if let Some(function) = power_of_function(before) => {
            plain(&format!("write the power behind the argument: {function}(…)^2"))
        }
        '(' if last.is_some_and(|c| in_name(c) || matches!(c, ')' | ']')) => {
            plain("write `*` between factors")
        }
        _ if in_name(c)
            && let Some((number, unit)) = with_unit(before, rest) =>
        {
            Some(Slip {
                length: 0,
                help: format!(
                    "a unit stands in a comment, {number}  # [{unit}]; a product is written {number}*{unit}"
                ),
            })
        }
        _ if in_name(c) => next_word(last, word, rest),
        _ => None,
    }
}

/// A number and its unit, if the one text is a number and the other looks like a unit: `9.81` and `m/s^2`.
fn with_unit<'a>(number: &'a str, unit: &'a str) -> Option<(&'a str, &'a str)> {
    let (number, unit) = (number.trim(), unit.trim());
    let first = &unit[..unit.find(|c: char| !c.is_alphabetic()).unwrap_or(unit.len())];
    let plain = |c: char| in_name(c) || matches!(c, '/' | '*' | '^' | '·' | '-' | '−' | ' ');
    let found = number.len() < 40
        && unit.len() < 40
        && number.parse::<f64>().is_ok()
        && UNITS.contains(&first)
        && unit.chars().all(plain);
    found.then_some((number, unit))
}

/// The number that a text starts with, what follows it, and whether that looks like a unit; `None` if no word follows.
pub(crate) fn number_and_word(text: &str) -> Option<(&str, &str, bool)> {
    let text = text.trim();
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = usize::from(text.starts_with(['-', '+']));
    end += digits(&text[end..]);
    if text[end..].starts_with('.') {
        end += 1 + digits(&text[end + 1..]);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['-', '+']));
        let exponent = digits(&text[end + 1 + sign..]);
        end += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    let (number, rest) = (&text[..end], text[end..].trim_start());
    number.parse::<f64>().ok()?;
    let word = rest.starts_with(|c: char| in_name(c) && !c.is_ascii_digit());
    word.then(|| (number, rest, with_unit(number, rest).is_some()))
}

/// The same for a name or a number that comes next.
fn next_word(last: Option<char>, word: &str, rest: &str) -> Option<Slip> {
    let next = &rest[..rest.find(|c: char| !in_name(c)).unwrap_or(rest.len())];
    let found = |help: String| Some(Slip { length: 0, help });
    if let Some(power) = superscript(next) {
        return found(format!("a power is written `^`: ^{power}"));
    }
    if matches!(next, "and" | "or" | "not" | "if" | "then" | "else" | "where" | "for") {
        return found(COMPARED.to_owned());
    }
    if functions().any(|function| function == word) && next.len() < 20 {
        return found(format!("write the argument in parentheses: {word}({next})"));
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    if next.starts_with('_') && digits(next) && last.is_some_and(|c| c.is_ascii_digit()) {
        return found("digits are written without `_`".to_owned());
    }
    let factor = match last {
        Some(c) if in_name(c) && word.len() < 20 => word,
        Some(')') => "(…)",
        Some(']') => "x[…]",
        _ => return None,
    };
    match next.len() < 20 {
        true => found(format!("write `*` between factors: {factor}*{next}")),
        false => found("write `*` between factors".to_owned()),
    }
}

/// `sin` for `sin^2`.
fn power_of_function(before: &str) -> Option<&'static str> {
    let (base, _) = before.split_at(before.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    let word = last_word(base.strip_suffix('^')?.trim_end());
    functions().find(|function| *function == word)
}

/// The name or number that a text ends with.
fn last_word(text: &str) -> &str {
    let start = text.rfind(|c: char| !in_name(c) && c != '.');
    let start = start.map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    &text[start..]
}

/// The digits of an exponent: `2` for `²`.
fn superscript(text: &str) -> Option<String> {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| RAISED.iter().position(|raised| *raised == c).map(|i| i.to_string());
    let digits: Option<String> = text.chars().map(digit).collect();
    digits.filter(|digits| !digits.is_empty())
}

/// How a name that means nothing may be meant; `knows` says which names mean something, `is_vector` which are vectors,
/// `is_defined` which are definitions.
pub(super) fn name(
    name: &str,
    knows: impl Fn(&str) -> bool,
    is_vector: impl Fn(&str) -> bool,
    is_defined: impl Fn(&str) -> bool,
) -> Option<String> {
    let first_special = name.find(|c: char| !c.is_ascii_alphanumeric() && !c.is_alphabetic() && c != '_');
    if let Some((base, power)) = first_special.map(|at| name.split_at(at)) {
        if let Some(power) = superscript(power) {
            return Some(format!("a power is written `^`: {base}^{power}"));
        }
        if power.chars().all(|c| ('₀'..='₉').contains(&c)) {
            let index: String =
                power.chars().filter_map(|c| char::from_digit(c as u32 - '₀' as u32, 10)).collect();
            return Some(match is_vector(base) {
                true => format!("entries are written with brackets: {base}[{index}]"),
                false => {
                    format!("a name with a lowered digit is a name of its own; did you mean {base}{index}?")
                }
            });
        }
    }
    let dotted = [('ẋ', "x"), ('ẏ', "y"), ('ż', "z"), ('ṙ', "r"), ('ṡ', "s"), ('ẇ', "w"), ('ṗ', "p")];
    if let Some((_, of)) = dotted.iter().find(|(c, _)| name == c.to_string()) {
        return Some(format!("the time derivative is written dot({of})"));
    }
    // xdot, x_dot, dotx, dxdt, dx, vx, v_x of a definition
    let stripped = |base: Option<&str>| {
        base.map(|base| base.trim_matches('_')).filter(|base| knows(base)).map(str::to_owned)
    };
    let velocity = [
        name.strip_suffix("dot"),
        name.strip_prefix("dot"),
        name.strip_prefix('d').and_then(|rest| rest.strip_suffix("dt")),
        name.strip_prefix("d_").or_else(|| name.strip_prefix('d')),
        name.strip_prefix('v'),
        name.strip_suffix("_t"),
    ];
    if let Some(base) = velocity.into_iter().find_map(stripped)
        && (knows(&format!("v_{base}")) || is_defined(&base))
    {
        return Some(format!("the time derivative of `{base}` is written dot({base})"));
    }
    // x1, x_1
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let index = &name[base.len()..];
    if !index.is_empty() && is_vector(base.trim_end_matches('_')) {
        return Some(format!("entries are written with brackets: {}[{index}]", base.trim_end_matches('_')));
    }
    match name {
        "e" => Some("Euler's number is exp(1), a power of it exp(x)".to_owned()),
        "time" if knows("t") => Some("time is written t".to_owned()),
        "deg" | "degree" | "degrees" => Some("angles are in radians: 30 degrees are 30*pi/180".to_owned()),
        _ => None,
    }
}

/// How a function that does not exist is written.
pub(super) fn function(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "arcsin" => "write asin(x)",
        "arccos" => "write acos(x)",
        "arctan" => "write atan(x), or atan2(y, x)",
        "arctan2" => "write atan2(y, x)",
        "sgn" | "signum" => "write sign(x)",
        "fabs" => "write abs(x)",
        "mag" | "magnitude" | "length" => "the length of a vector is norm(v)",
        "log10" => "write log(x)/log(10)",
        "log2" => "write log(x)/log(2)",
        "cot" => "write 1/tan(x)",
        "sec" => "write 1/cos(x)",
        "csc" => "write 1/sin(x)",
        "sq" | "sqr" | "square" => "a square is written x^2",
        "cbrt" => "write x^(1/3)",
        "power" => "write x^y",
        "d" | "dt" | "ddt" | "diff" | "der" | "derivative" | "deriv" => {
            "the time derivative is written dot(x)"
        }
        "min" | "max" | "floor" | "ceil" | "round" | "mod" | "if" | "heaviside" | "step" | "piecewise" => {
            "a Lagrangian is differentiated twice, so its functions must be smooth"
        }
        _ => return None,
    })
}
