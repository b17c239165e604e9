//! Errors that point into a text: where, what was found, what was expected, what to try.
//!
//! A [`Source`] is a text with a name (a file, or a flag such as `--q0`), an [`Origin`] says where in it a formula stands, and a
//! [`Diagnostic`] is a message with places. It is drawn by `annotate-snippets`, as the Rust compiler draws its own; lines that
//! are too long for a screen are cut around the place.

use super::shortened;
use annotate_snippets::{AnnotationKind, Element, Level, Origin as Place, Renderer, Snippet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Longer lines are cut around the place. What is still too long for a screen is cut when it is drawn, which takes long for
/// very long lines.
const MAX_LINE: usize = 2000;

/// A text with a name.
#[derive(Clone, PartialEq, Eq)]
pub struct Source {
    /// The name of the file or flag.
    pub name: String,
    /// All of it.
    pub text: String,
}

/// Without its text, which may be long.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Source {
    /// A text with a name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into() })
    }

    /// Line and column of a byte, both counted from 1, columns in characters.
    pub fn line_and_column(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        (line, before[start..].chars().count() + 1)
    }
}

/// Where a formula stands in a source. A string with escapes is not the same as its text, so pieces are mapped apart.
#[derive(Clone, Debug)]
pub struct Origin {
    source: Arc<Source>,
    /// Byte in the formula, byte in the source: what lies between two pairs moves along. Empty: all of `whole`.
    pieces: Arc<[(usize, usize)]>,
    whole: Range<usize>,
}

impl Origin {
    /// A formula whose bytes are mapped by pieces; `whole` is where it stands with its quotes.
    pub fn new(source: Arc<Source>, pieces: &[(usize, usize)], whole: Range<usize>) -> Self {
        Self { source, pieces: pieces.into(), whole }
    }

    /// A formula that is a source of its own, or a part of it that starts at a byte.
    pub fn part(source: Arc<Source>, start: usize, length: usize) -> Self {
        Self::new(source, &[(0, start)], start..start + length)
    }

    /// The same place for a text that was made of this one.
    pub fn derived(&self) -> Self {
        Self { source: self.source.clone(), pieces: [].into(), whole: self.whole.clone() }
    }

    /// The origin of a part of the formula.
    #[must_use]
    pub fn of_part(&self, part: Range<usize>) -> Self {
        let whole = self.range(part.clone());
        if self.pieces.is_empty() {
            return self.derived();
        }
        let mut pieces = vec![(0, whole.start)];
        let later = self.pieces.iter().filter(|(from, _)| (part.start + 1..part.end).contains(from));
        pieces.extend(later.map(|(from, to)| (from - part.start, *to)));
        Self { source: self.source.clone(), pieces: pieces.into(), whole }
    }

    /// The source.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// All of the formula.
    pub fn whole(&self) -> Range<usize> {
        self.whole.clone()
    }

    /// The place of a name, without its quotes, if the formula was written behind `name =`.
    pub fn name_before(&self, name: &str) -> Option<Range<usize>> {
        let (before, _) = self.source.text.get(..self.whole.start)?.rsplit_once('=')?;
        let before = before.trim_end().trim_end_matches(['"', '\'']);
        before.ends_with(name).then(|| before.len() - name.len()..before.len())
    }

    /// The place in the source of a part of the formula.
    pub fn range(&self, part: Range<usize>) -> Range<usize> {
        if self.pieces.is_empty() {
            return self.whole.clone();
        }
        let at = |byte: usize| {
            let piece = self.pieces.partition_point(|(from, _)| *from <= byte).saturating_sub(1);
            self.pieces.get(piece).map_or(0, |(from, to)| to + (byte - from))
        };
        // the end belongs to the piece of the last character
        let end = if part.end > part.start { at(part.end - 1) + 1 } else { at(part.start) };
        at(part.start)..end.max(at(part.start))
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Nothing can be computed.
    Error,
    /// It can, but it may not be what was meant.
    Warning,
}

/// A message with places in a source.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in a line.
    pub title: String,
    /// The text.
    pub source: Arc<Source>,
    /// Where, in bytes.
    pub range: Range<usize>,
    /// What is to say at that place.
    pub label: String,
    /// Other places that matter.
    pub others: Vec<(Range<usize>, String)>,
    /// What else is to say.
    pub notes: Vec<String>,
    /// What to try.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn new(source: &Arc<Source>, range: Range<usize>, title: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            title: title.into(),
            source: source.clone(),
            range,
            label: String::new(),
            others: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// The same as a warning.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// Says something at the place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Shows another place.
    #[must_use]
    pub fn other(mut self, range: Range<usize>, text: impl Into<String>) -> Self {
        self.others.push((range, text.into()));
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says what to try.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Line and column of the place, both counted from 1.
    pub fn place(&self) -> (usize, usize) {
        self.source.line_and_column(self.range.start)
    }

    /// The message as text, with colours for a terminal if asked for.
    pub fn render(&self, colour: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let (line, column) = self.place();
        let window = Window::new(&self.source.text, &self.range, &self.others);
        let mut snippet = Snippet::source(window.text.as_str()).line_start(window.line);
        let primary = AnnotationKind::Primary.span(window.place(&self.range));
        let label = (!self.label.is_empty()).then(|| shortened(&self.label));
        snippet = snippet.annotation(primary.label(label));
        for (range, text) in &self.others {
            if window.holds(range) {
                snippet = snippet
                    .annotation(AnnotationKind::Context.span(window.place(range)).label(shortened(text)));
            }
        }
        let title = level.primary_title(shortened(&self.title));
        // a line that was cut has lost its columns
        let mut group = if window.cut {
            title
                .element(Place::path(self.source.name.as_str()).line(line).char_column(column))
                .element(snippet)
        } else {
            title.element(snippet.path(self.source.name.as_str()))
        };
        for note in &self.notes {
            group = group.element(Element::from(Level::NOTE.message(shortened(note))));
        }
        for help in &self.help {
            group = group.element(Element::from(Level::HELP.message(shortened(help))));
        }
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.render(false);
        f.write_str(text.strip_prefix("error: ").or(text.strip_prefix("warning: ")).unwrap_or(&text))
    }
}

/// The lines that are shown: those of all places, if they are near each other, else that of the first.
struct Window {
    text: String,
    line: usize,
    /// Byte in the source, byte in the window, length: parts of the source that are shown.
    parts: Vec<(usize, usize, usize)>,
    cut: bool,
}

impl Window {
    fn new(text: &str, range: &Range<usize>, others: &[(Range<usize>, String)]) -> Self {
        let line_start = |at: usize| text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |i| i + 1);
        let line_end = |at: usize| text.get(at..).and_then(|t| t.find('\n')).map_or(text.len(), |i| at + i);
        let (mut from, mut to) = (line_start(range.start), line_end(range.start));
        for (other, _) in others {
            let (start, end) = (line_start(other.start).min(from), line_end(other.start).max(to));
            if text.get(start..end).is_some_and(|t| t.len() < 4000) {
                (from, to) = (start, end);
            }
        }
        let line = text.get(..from).map_or(1, |t| t.matches('\n').count() + 1);
        let mut window = Self { text: String::new(), line, parts: Vec::new(), cut: false };
        let mut at = from;
        for shown in text.get(from..to).unwrap_or("").split('\n') {
            let mut places: Vec<usize> = others.iter().map(|(r, _)| r.start).collect();
            places.insert(0, range.start);
            let focus = places.iter().find(|p| (at..=at + shown.len()).contains(p)).map_or(0, |p| p - at);
            window.add_line(shown.trim_end_matches('\r'), at, focus);
            at += shown.len() + 1;
        }
        window
    }

    /// Adds a line, or what lies around the byte `focus` of it.
    fn add_line(&mut self, line: &str, at: usize, focus: usize) {
        if !self.text.is_empty() || !self.parts.is_empty() {
            self.text.push('\n');
        }
        let (mut from, mut to) = (0, line.len());
        if line.len() > MAX_LINE {
            self.cut = true;
            let whole = |mut i: usize| {
                while !line.is_char_boundary(i) {
                    i -= 1;
                }
                i
            };
            from = whole(focus.saturating_sub(50).min(line.len()));
            to = whole((from + 100).min(line.len()));
        }
        if from > 0 {
            self.text.push('…');
        }
        self.parts.push((at + from, self.text.len(), to - from));
        self.text.push_str(&line[from..to]);
        if to < line.len() {
            self.text.push('…');
        }
    }

    fn find(&self, at: usize) -> Option<usize> {
        let part = self.parts.iter().find(|(from, _, length)| (*from..=from + length).contains(&at))?;
        Some(part.1 + (at - part.0))
    }

    fn holds(&self, range: &Range<usize>) -> bool {
        self.find(range.start).is_some()
    }

    /// The place of a range of the source in the window, cut at the end of its line.
    fn place(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.find(range.start).unwrap_or(0);
        let line_end =
            self.text.get(start..).and_then(|t| t.find('\n')).map_or(self.text.len(), |i| start + i);
        let end = self.find(range.end.max(range.start)).unwrap_or(line_end).clamp(start, line_end);
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_its_place() {
        let source = Source::new("my.toml", "a = 1\nb = \"2*thta\"\n");
        let text = Diagnostic::new(&source, 13..17, "unknown name `thta`").help("try `theta`").to_string();
        let expected = "unknown name `thta`\n --> my.toml:2:8\n  |\n2 | b = \"2*thta\"\n  |        ^^^^\n  |\n  = help: try `theta`";
        assert_eq!(text, expected);
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("x = \"{}\"", "(".repeat(10_000_000));
        let source = Source::new("deep.toml", text);
        let start = std::time::Instant::now();
        let shown = Diagnostic::new(&source, 5_000_000..5_000_001, "too deep").to_string();
        assert!(shown.len() < 600, "{}", shown.len());
        assert!(shown.contains("deep.toml:1:5000001") && start.elapsed().as_secs_f64() < 1.0);
    }

    #[test]
    fn pieces_of_a_string_with_escapes_are_found() {
        // "a\u0062c": the b is written with six characters
        let source = Source::new("s", "\"a\\u0062c\"");
        let origin = Origin::new(source, &[(0, 1), (1, 2), (2, 8)], 0..10);
        assert_eq!(origin.range(2..3), 8..9);
        assert_eq!(origin.range(0..1), 1..2);
    }
}
