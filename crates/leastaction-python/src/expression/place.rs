//! Where in the user's program something happens, for error messages.

use pyo3::prelude::*;

/// The file, the number and the text of the line in brackets, after a space; nothing if there is no such place.
pub(super) fn of(py: Python<'_>) -> String {
    find(py).unwrap_or_default()
}

/// The innermost frame that belongs neither to this package nor to NumPy.
fn find(py: Python<'_>) -> PyResult<String> {
    let mut frame = py.import("sys")?.call_method0("_getframe")?;
    let own: String = py.import("leastaction")?.getattr("__file__")?.extract()?;
    let own = own.rsplit_once(['/', '\\']).map_or(own.as_str(), |(folder, _)| folder).to_owned();
    loop {
        let file: String = frame.getattr("f_code")?.getattr("co_filename")?.extract()?;
        let line: usize = frame.getattr("f_lineno")?.extract()?;
        let of_numpy = file.contains("/numpy/") || file.contains("\\numpy\\");
        if !of_numpy && !file.starts_with(&own) {
            let lines = py.import("linecache")?;
            let text: String = lines.call_method1("getline", (&file, line))?.extract()?;
            let short = file.rsplit(['/', '\\']).next().unwrap_or(&file).to_owned();
            let text = text.trim();
            let code = if text.is_empty() { String::new() } else { format!(": `{text}`") };
            return Ok(format!(" ({short}, line {line}{code})"));
        }
        frame = frame.getattr("f_back")?;
        if frame.is_none() {
            return Ok(String::new());
        }
    }
}
