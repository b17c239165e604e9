//! The report: one HTML page with tables and figures in the order of the papers.

use super::table;
use leastaction::papers::Drawing;
use leastaction::papers::{Entry, Paper, TableReport, Verdict};
use std::fmt::Write;

/// The page. Pictures are expected beside it.
pub(super) fn page(papers: &[Paper], reports: &[TableReport], drawings: &[Drawing]) -> String {
    let mut out = String::from(HEAD);
    out.push_str("<h1>Five papers, reproduced</h1>\n");
    let _ = writeln!(
        out,
        "<p>Every table and figure with numbers, computed by leastaction {} from the experiments as described. \
         Printed values stand above computed ones.</p>",
        env!("CARGO_PKG_VERSION")
    );
    if !reports.is_empty() {
        out.push_str("<h2>In short</h2>\n");
        out.push_str(&tally(reports));
    }
    for paper in papers {
        let mut body = String::new();
        for id in &paper.order {
            if let Some(report) = reports.iter().find(|report| report.table.id == *id) {
                table_html(&mut body, report);
            }
            if let Some(drawing) = drawings.iter().find(|drawing| drawing.id == *id) {
                figure_html(&mut body, drawing);
            }
        }
        if !body.is_empty() {
            let _ = writeln!(
                out,
                "<h2 id=\"{0}\">Paper {0}</h2>\n<p class=\"paper\">{1}: <em>{2}</em>, {3}.</p>\n<p>{4}</p>",
                escape(&paper.id),
                escape(&paper.authors),
                escape(&paper.title),
                paper.year,
                escape(&paper.about)
            );
            out.push_str(&outcome(paper, reports));
            out.push_str(&body);
        }
    }
    out.push_str("</body>\n</html>\n");
    out
}

/// How the printed numbers of a paper came out, in a sentence.
fn outcome(paper: &Paper, reports: &[TableReport]) -> String {
    let own = reports.iter().filter(|report| paper.tables.iter().any(|table| table.id == report.table.id));
    let entries: Vec<&Entry> = own.flat_map(|report| &report.entries).collect();
    let count = |verdict: Verdict| entries.iter().filter(|entry| entry.verdict == verdict).count();
    let parts: Vec<String> = Verdict::ALL
        .iter()
        .filter(|verdict| count(**verdict) > 0)
        .map(|verdict| format!("{}: {}", verdict.words(), count(*verdict)))
        .collect();
    if entries.is_empty() {
        return String::new();
    }
    format!("<p>Printed numbers: {}; {}.</p>\n", entries.len(), escape(&parts.join("; ")))
}

fn figure_html(out: &mut String, drawing: &Drawing) {
    let _ = writeln!(
        out,
        "<figure id=\"{0}\"><a href=\"{0}.svg\"><img src=\"{0}.svg\" alt=\"{1}\"></a>\
         <figcaption><b>{0}</b> {1}. {2} (<a href=\"{0}.png\">PNG</a>)</figcaption></figure>",
        escape(&drawing.id),
        escape(&drawing.title),
        escape(&drawing.caption)
    );
}

fn table_html(out: &mut String, report: &TableReport) {
    let table = &report.table;
    let _ = writeln!(out, "<h3 id=\"{0}\">{0} {1}</h3>", escape(&table.id), escape(&table.title));
    let _ = writeln!(out, "<p>Compared with {}.</p>", escape(&report.reference));
    out.push_str("<table><thead><tr><th></th><th>method</th>");
    for column in &table.columns {
        let _ = write!(out, "<th>{}</th>", escape(column));
    }
    out.push_str("<th>order</th></tr></thead>\n<tbody>\n");
    let mut last = "";
    for ((row, entries), order) in
        table.rows.iter().zip(report.entries.chunks(table.steps.len())).zip(&report.orders)
    {
        let label = if row.label == last { "" } else { &row.label };
        last = &row.label;
        let _ = write!(out, "<tr><th>{}</th><td>{}</td>", escape(label), escape(&row.name));
        for (printed, entry) in row.printed.iter().zip(entries) {
            cell(out, &printed.to_string(), entry);
        }
        let computed = table::computed_order(order);
        let class = if order.agrees { "same" } else { "erratum" };
        let _ = writeln!(
            out,
            "<td class=\"{class}\">{}<br><span>{computed}</span></td></tr>",
            escape(&order.printed)
        );
    }
    out.push_str("</tbody></table>\n");
    list(out, &table::remarks(report));
    list(out, &table::choices(report));
    beyond(out, report);
}

/// Printed above computed, coloured by the verdict, with the sentence on hovering.
fn cell(out: &mut String, printed: &str, entry: &Entry) {
    let class = match entry.verdict {
        Verdict::LastDigit => "same",
        Verdict::Close | Verdict::Truncated => "near",
        Verdict::Rounding => "zero",
        Verdict::Erratum => "erratum",
        Verdict::Missing => "missing",
    };
    let computed = entry.computed.map_or("—".to_owned(), |x| format!("{x:.4e}"));
    let _ = write!(
        out,
        "<td class=\"{class}\" title=\"{}: {}\">{}<br><span>{computed}</span></td>",
        entry.verdict.words(),
        escape(&entry.note),
        escape(printed)
    );
}

fn beyond(out: &mut String, report: &TableReport) {
    if report.beyond.is_empty() {
        return;
    }
    let _ = writeln!(out, "<p>{}</p>", table::BEYOND);
    let rows: Vec<Vec<String>> = report.beyond.iter().map(table::beyond_row).collect();
    plain(out, &table::beyond_header(report), &rows);
}

fn tally(reports: &[TableReport]) -> String {
    let mut out = String::new();
    let (header, rows) = table::tally_rows(reports);
    plain(&mut out, &header, &rows);
    out
}

fn plain(out: &mut String, header: &[&str], rows: &[Vec<String>]) {
    let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
        cells.map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect::<String>()
    };
    let _ =
        writeln!(out, "<table><thead><tr>{}</tr></thead><tbody>", cells("th", &mut header.iter().copied()));
    for row in rows {
        let _ = writeln!(out, "<tr>{}</tr>", cells("td", &mut row.iter().map(String::as_str)));
    }
    out.push_str("</tbody></table>\n");
}

fn list(out: &mut String, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    out.push_str("<ul>\n");
    for line in lines {
        let _ = writeln!(out, "<li>{}</li>", escape(line));
    }
    out.push_str("</ul>\n");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Five papers, reproduced</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #1c1e21; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid #e9ebee; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { padding: 0.25rem 0.7rem; text-align: right; border-bottom: 1px solid #e9ebee; vertical-align: top; }
th:first-child, td:nth-child(2) { text-align: left; white-space: nowrap; }
thead th { border-bottom: 2px solid #8a8f96; }
td span { color: #4a4e54; font-size: 12px; }
.near { background: #fff4d6; } .zero { background: #eef1f4; } .erratum { background: #fbdcd3; } .missing { background: #ddd; }
figure { margin: 2rem 0; } figure img { width: 100%; height: auto; }
figcaption, li { font-size: 14px; color: #4a4e54; } .paper { font-size: 17px; }
</style>
</head>
<body>
"#;
