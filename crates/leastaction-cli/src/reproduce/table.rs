//! Computed tables as text, Markdown and JSON.

use crate::Ending;
use crate::list::{self, Layout};
use leastaction::papers::{Beyond, Entry, OrderCheck, TableReport, Verdict};

/// All entries as one array.
pub(super) fn json(reports: &[TableReport]) -> Result<String, Ending> {
    let entries: Vec<&Entry> = reports.iter().flat_map(|report| &report.entries).collect();
    serde_json::to_string_pretty(&entries).map_err(|error| Ending::Failed(error.to_string()))
}

/// How tables are written.
struct Look<'a> {
    layout: &'a Layout,
    /// Before the title of a table.
    heading: &'static str,
    /// Before each remark.
    bullet: &'static str,
}

/// Tables for the terminal.
pub(super) fn text(reports: &[TableReport]) -> String {
    written(reports, &Look { layout: &list::table, heading: "", bullet: "" })
}

/// Tables for a page.
pub(super) fn markdown(reports: &[TableReport]) -> String {
    written(reports, &Look { layout: &list::plain_markdown, heading: "## ", bullet: "- " })
}

fn written(reports: &[TableReport], look: &Look<'_>) -> String {
    let mut parts: Vec<String> = reports.iter().map(|report| one(report, look)).collect();
    let (header, rows) = tally_rows(reports);
    parts.push((look.layout)(&header, &rows));
    parts.join("\n\n")
}

fn one(report: &TableReport, look: &Look<'_>) -> String {
    let table = &report.table;
    let mut parts = vec![format!("{}{}  {}", look.heading, table.id, table.title)];
    parts.push((look.layout)(&header(report), &rows(report)));
    for lines in [remarks(report), choices(report)].iter().filter(|lines| !lines.is_empty()) {
        let lines: Vec<String> = lines.iter().map(|line| format!("{}{line}", look.bullet)).collect();
        parts.push(lines.join("\n"));
    }
    if !report.beyond.is_empty() {
        parts.push(BEYOND.to_owned());
        let rows: Vec<Vec<String>> = report.beyond.iter().map(beyond_row).collect();
        parts.push((look.layout)(&beyond_header(report), &rows));
    }
    parts.join("\n\n")
}

/// What the rows of further methods are.
pub(super) const BEYOND: &str =
    "The same experiment with methods that the paper does not have, orders from errors clear of rounding:";

/// Row, then printed and computed for each column, then both orders.
fn header(report: &TableReport) -> Vec<&str> {
    let mut header = vec!["", "method"];
    for column in &report.table.columns {
        header.extend([column.as_str(), "computed"]);
    }
    header.extend(["order", "computed"]);
    header
}

/// The cells of a table, with a mark at every computed value that does not agree to the last digit.
fn rows(report: &TableReport) -> Vec<Vec<String>> {
    let columns = report.table.steps.len();
    let mut last = "";
    let rows = report.table.rows.iter().zip(report.entries.chunks(columns)).zip(&report.orders);
    rows.map(|((row, entries), order)| {
        let label = if row.label == last { "" } else { &row.label };
        last = &row.label;
        let mut cells = vec![label.to_owned(), row.name.clone()];
        for (printed, entry) in row.printed.iter().zip(entries) {
            cells.extend([printed.to_string(), format!("{}{}", value(entry), mark(entry.verdict))]);
        }
        let computed = computed_order(order);
        let disagrees = if order.agrees { "" } else { " !" };
        cells.extend([order.printed.clone(), format!("{computed}{disagrees}")]);
        cells
    })
    .collect()
}

/// Two decimals, without the sign of zero.
pub(super) fn computed_order(order: &OrderCheck) -> String {
    if !order.measured {
        return "— ?".to_owned();
    }
    order.computed.map_or("exact".to_owned(), |x| format!("{:.2}", if x.abs() < 0.005 { 0.0 } else { x }))
}

fn value(entry: &Entry) -> String {
    entry.computed.map_or("—".to_owned(), |x| format!("{x:.4e}"))
}

fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::LastDigit => "",
        Verdict::Close | Verdict::Truncated => " ≈",
        Verdict::Rounding => " 0",
        Verdict::Erratum => " !",
        Verdict::Missing => " ?",
    }
}

/// A line for every entry that does not agree to the last digit, and for every order that does not.
pub(super) fn remarks(report: &TableReport) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for entry in
        report.entries.iter().filter(|e| !matches!(e.verdict, Verdict::LastDigit | Verdict::Rounding))
    {
        let (mark, verdict) = (mark(entry.verdict).trim(), entry.verdict.words());
        lines.push(format!(
            "{mark} {}, {}: {}, {verdict}: {}",
            entry.row, entry.column, entry.printed_text, entry.note
        ));
    }
    let rounding = report.entries.iter().filter(|e| e.verdict == Verdict::Rounding).count();
    if rounding > 0 {
        lines
            .push(format!("0 {rounding} entries are zero in exact arithmetic and show rounding errors only"));
    }
    for order in report.orders.iter().filter(|o| !o.agrees) {
        let computed = order.computed.map_or("none".to_owned(), |x| format!("{x:.2}"));
        lines.push(format!("! {}: printed order {}, computed {computed}", order.row, order.printed));
    }
    lines
}

/// What the paper leaves open or misprints about the experiment, with the number that decides.
pub(super) fn choices(report: &TableReport) -> Vec<String> {
    let line = |c: &leastaction::papers::ChoiceReport| {
        format!(
            "The paper gives {}; used: {}. {} is printed as {:e}; this gives {:.3e}, the other {:.3e}.",
            c.printed, c.used, c.entry, c.value_printed, c.value_used, c.value_as_printed
        )
    };
    report.choices.iter().map(line).collect()
}

pub(super) fn beyond_header(report: &TableReport) -> Vec<&str> {
    let columns = report.table.columns.iter().map(String::as_str);
    ["", "method"].into_iter().chain(columns).chain(["order"]).collect()
}

pub(super) fn beyond_row(row: &Beyond) -> Vec<String> {
    let mut cells = vec![row.label.clone(), row.method.clone()];
    let cell = |(x, rounded): (&Option<f64>, &bool)| {
        let mark = if *rounded { mark(Verdict::Rounding) } else { "" };
        x.map_or(format!("—{}", self::mark(Verdict::Missing)), |x| format!("{x:.4e}{mark}"))
    };
    cells.extend(row.values.iter().zip(&row.rounded).map(cell));
    cells.push(row.order.map_or("—".to_owned(), |x| format!("{x:.2}")));
    cells
}

/// How many entries of each table got which verdict, as header and rows.
pub(super) fn tally_rows(reports: &[TableReport]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let mut header = vec!["table"];
    header.extend(Verdict::ALL.iter().map(|v| v.words()));
    header.push("entries");
    let line = |name: &str, entries: &[&Entry]| {
        let mut cells = vec![name.to_owned()];
        cells.extend(
            Verdict::ALL.iter().map(|v| entries.iter().filter(|e| e.verdict == *v).count().to_string()),
        );
        cells.push(entries.len().to_string());
        cells
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for report in reports {
        rows.push(line(&report.table.id, &report.entries.iter().collect::<Vec<_>>()));
    }
    if reports.len() > 1 {
        rows.push(line("all", &reports.iter().flat_map(|r| &r.entries).collect::<Vec<_>>()));
    }
    (header, rows)
}
