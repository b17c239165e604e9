//! Formulas under recording: what a traced Python function and symbols are made of.
//!
//! An [`Expression`] looks like a number to Python and to NumPy, whose functions of object arrays call its methods. It only remembers
//! how it was made; `writing` turns it into the formulas of a text, from which the library makes the system, so that a
//! function, symbols and a file are one thing from there on.

mod place;
mod term;
mod writing;

pub(crate) use writing::{symbols_in, write};

use crate::errors::Kind;
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyTuple};
use std::sync::atomic::{AtomicU64, Ordering};
use term::{Binary, Node, Role, Term, Unary};

/// A number that is a formula of coordinates, velocities, time and parameters.
///
/// Made by `leastaction.coordinates`, `leastaction.parameters` and by tracing a function; arithmetic and NumPy's functions make
/// others of them. It has no value, so it cannot be compared or turned into a number.
#[pyclass(frozen, module = "leastaction", name = "Expression")]
pub(crate) struct Expression(Node);

static NEXT: AtomicU64 = AtomicU64::new(0);

/// An operand: another expression or a number. Nothing for what is neither, so that Python may try the other way round.
fn operand(value: &Bound<'_, PyAny>) -> PyResult<Option<Node>> {
    if let Ok(expression) = value.cast::<Expression>() {
        return Ok(Some(expression.get().0.clone()));
    }
    let plain = value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>();
    if value.is_instance_of::<PyBool>() {
        return Ok(Some(Node::number(f64::from(u8::from(value.is_truthy()?)))));
    }
    // scalars of NumPy are numbers too, its arrays are not
    if !plain && (value.hasattr("__len__")? && value.len().is_ok() || !value.hasattr("__float__")?) {
        return Ok(None);
    }
    let number: f64 = match value.extract() {
        Ok(number) => number,
        Err(_) => return Ok(None),
    };
    finite(value.py(), number).map(Some)
}

/// A number that formulas can have.
fn finite(py: Python<'_>, number: f64) -> PyResult<Node> {
    if number.is_finite() {
        return Ok(Node::number(number));
    }
    let message = format!("{number} in a traced formula{}", place::of(py));
    Err(Kind::Tracing.error(py, format!("{message}\n  use finite numbers")))
}

type Maybe = PyResult<Py<PyAny>>;

impl Expression {
    fn unary(&self, op: Unary) -> Self {
        Self(Node::new(Term::Unary(op, self.0.clone())))
    }

    fn binary(op: Binary, a: Node, b: Node) -> Self {
        Self(Node::new(Term::Binary(op, a, b)))
    }

    /// Expression ∘ value, or `NotImplemented`.
    fn with(&self, op: Binary, other: &Bound<'_, PyAny>, swapped: bool) -> Maybe {
        let py = other.py();
        let Some(other) = operand(other)? else { return Ok(py.NotImplemented()) };
        let (a, b) = if swapped { (other, self.0.clone()) } else { (self.0.clone(), other) };
        Ok(Py::new(py, Self::binary(op, a, b))?.into_any())
    }

    /// 1 or −1, also for zero, and its product with x: the absolute value, with a derivative that is never zero.
    fn sign_and_size(&self) -> (Self, Self) {
        let sign = self.sign().by_number(Binary::Add, 0.5).sign();
        let size = Self::binary(Binary::Mul, sign.0.clone(), self.0.clone());
        (sign, size)
    }

    fn by_number(&self, op: Binary, number: f64) -> Self {
        Self::binary(op, self.0.clone(), Node::number(number))
    }

    fn refuse<T>(py: Python<'_>, what: &str, instead: &str) -> PyResult<T> {
        let place = place::of(py);
        Err(Kind::Tracing.error(py, format!("{what}{place}\n  {instead}")))
    }
}

const NO_BRANCH: &str = "the function is recorded once, with numbers that have no value yet, so it cannot branch on them; write one \
                         formula for all cases, for instance with np.abs, np.tanh or la.sign, or branch on a plain Python value outside";
const NO_NUMBER: &str = "it is recorded once and has no value yet; use functions of NumPy (np.sin, not math.sin) and plain operators, and \
                         for norms np.sqrt(np.sum(x**2))";

#[pymethods]
impl Expression {
    /// A symbol: `role` is "coordinate", "parameter" or "time".
    #[staticmethod]
    fn symbol(py: Python<'_>, role: &str, name: &str) -> PyResult<Self> {
        let role = match role {
            "coordinate" => Role::Coordinate,
            "parameter" => Role::Parameter,
            "time" => Role::Time,
            _ => return Err(Kind::Input.error(py, format!("`{role}` is no role of a symbol"))),
        };
        let made = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self(Node::new(Term::Name { role, name: name.to_owned(), made })))
    }

    /// A number as a formula.
    #[staticmethod]
    fn number(py: Python<'_>, x: f64) -> PyResult<Self> {
        finite(py, x).map(Self)
    }

    /// NumPy's functions, where a formula is among their arguments.
    #[pyo3(signature = (ufunc, method, *inputs, **keywords))]
    fn __array_ufunc__<'py>(
        &self,
        ufunc: Bound<'py, PyAny>,
        method: &str,
        inputs: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = ufunc.py();
        let head = (ufunc, method).into_pyobject(py)?;
        let arguments = head.add(inputs)?;
        py.import("leastaction._trace")?.getattr("apply")?.call(arguments.cast::<PyTuple>()?, keywords)
    }

    /// The name of a symbol; None for other expressions.
    #[getter]
    fn name(&self) -> Option<String> {
        match self.0.term() {
            Term::Name { name, .. } => Some(name.clone()),
            _ => None,
        }
    }

    fn __add__(&self, other: &Bound<'_, PyAny>) -> Maybe {
        self.with(Binary::Add, other, false)
    }
    fn __radd__(&self, other: &Bound<'_, PyAny>) -> Maybe {
        self.with(Binary::Add, other, true)
    }
    fn __sub__(&self, other: &Bound<'_, PyAny>) -> Maybe {
        self.with(Binary::Sub, other, false)
    }
    fn __rsub__(&self, other: &Bound<'_, PyAny>) -> Maybe {
        self.with(Binary::Sub, other, true)
    }
    fn __mul__(&self, other: &Bound<'_, PyAny>) -> Maybe {
        self.with(Binary::Mul, other, false)
    }
    fn __rmul__(&self, other: &Bound<'_, PyAny>) -> Maybe {
        self.with(Binary::Mul, other, true)
    }
    fn __truediv__(&self, other: &Bound<'_, PyAny>) -> Maybe {
        self.with(Binary::Div, other, false)
    }
    fn __rtruediv__(&self, other: &Bound<'_, PyAny>) -> Maybe {
        self.with(Binary::Div, other, true)
    }
    fn __pow__(&self, other: &Bound<'_, PyAny>, modulus: Option<&Bound<'_, PyAny>>) -> Maybe {
        if modulus.is_some() {
            return Err(PyTypeError::new_err("a traced number has no power with a modulus"));
        }
        self.with(Binary::Pow, other, false)
    }
    fn __rpow__(&self, other: &Bound<'_, PyAny>, _modulus: Option<&Bound<'_, PyAny>>) -> Maybe {
        self.with(Binary::Pow, other, true)
    }
    fn __neg__(&self) -> Self {
        self.unary(Unary::Neg)
    }
    fn __pos__(&self) -> Self {
        Self(self.0.clone())
    }
    fn __abs__(&self) -> Self {
        self.unary(Unary::Call("abs"))
    }
    fn __floordiv__(&self, py: Python<'_>, _other: &Bound<'_, PyAny>) -> PyResult<()> {
        Self::refuse(py, "`//` on a traced number", "it has no derivative; use `/`")
    }
    fn __mod__(&self, py: Python<'_>, _other: &Bound<'_, PyAny>) -> PyResult<()> {
        Self::refuse(
            py,
            "`%` on a traced number",
            "it has no derivative; use np.sin or np.cos for what repeats itself",
        )
    }
    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        Self::refuse(py, "a branch on a traced number", NO_BRANCH)
    }
    fn __richcmp__(&self, py: Python<'_>, _other: &Bound<'_, PyAny>, _op: CompareOp) -> PyResult<bool> {
        Self::refuse(py, "a comparison with a traced number", NO_BRANCH)
    }
    fn __hash__(&self) -> u64 {
        self.0.address() as u64
    }
    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        Self::refuse(py, "a traced number was to be turned into a plain one", NO_NUMBER)
    }
    fn __int__(&self, py: Python<'_>) -> PyResult<i64> {
        Self::refuse(py, "a traced number was to be turned into a whole one", NO_NUMBER)
    }
    fn __complex__(&self, py: Python<'_>) -> PyResult<()> {
        Self::refuse(py, "a traced number was to be turned into a complex one", "a Lagrangian is real")
    }
    fn __index__(&self, py: Python<'_>) -> PyResult<i64> {
        Self::refuse(
            py,
            "a traced number was used as an index, or to repeat a text or a list",
            "indices must be plain whole numbers, and factors numbers",
        )
    }

    fn sqrt(&self) -> Self {
        self.unary(Unary::Call("sqrt"))
    }
    fn exp(&self) -> Self {
        self.unary(Unary::Call("exp"))
    }
    fn log(&self) -> Self {
        self.unary(Unary::Call("log"))
    }
    fn sin(&self) -> Self {
        self.unary(Unary::Call("sin"))
    }
    fn cos(&self) -> Self {
        self.unary(Unary::Call("cos"))
    }
    fn tan(&self) -> Self {
        self.unary(Unary::Call("tan"))
    }
    fn arcsin(&self) -> Self {
        self.unary(Unary::Call("asin"))
    }
    fn arccos(&self) -> Self {
        self.unary(Unary::Call("acos"))
    }
    fn arctan(&self) -> Self {
        self.unary(Unary::Call("atan"))
    }
    fn sinh(&self) -> Self {
        self.unary(Unary::Call("sinh"))
    }
    fn cosh(&self) -> Self {
        self.unary(Unary::Call("cosh"))
    }
    fn tanh(&self) -> Self {
        self.unary(Unary::Call("tanh"))
    }
    fn sign(&self) -> Self {
        self.unary(Unary::Call("sign"))
    }
    /// The time derivative, by the chain rule.
    fn rate(&self) -> Self {
        self.unary(Unary::Call("dot"))
    }
    fn arctan2(&self, other: &Bound<'_, PyAny>) -> Maybe {
        self.with(Binary::Atan2, other, false)
    }
    fn hypot(&self, other: &Bound<'_, PyAny>) -> Maybe {
        self.with(Binary::Hypot, other, false)
    }
    fn conjugate(&self) -> Self {
        Self(self.0.clone())
    }

    // what NumPy asks for by name and formulas have in other words
    fn exp2(&self) -> Self {
        self.by_number(Binary::Mul, std::f64::consts::LN_2).exp()
    }
    /// eˣ − 1 = 2 e^(x/2) sinh(x/2), which cancels nothing.
    fn expm1(&self) -> Self {
        let half = self.by_number(Binary::Div, 2.0);
        let product = Self::binary(Binary::Mul, half.exp().0, half.sinh().0);
        product.by_number(Binary::Mul, 2.0)
    }
    fn log1p(&self) -> Self {
        self.by_number(Binary::Add, 1.0).log()
    }
    fn log2(&self) -> Self {
        self.log().by_number(Binary::Div, std::f64::consts::LN_2)
    }
    fn log10(&self) -> Self {
        self.log().by_number(Binary::Div, std::f64::consts::LN_10)
    }
    /// ± log(|x| + √(x² + 1))
    fn arcsinh(&self) -> Self {
        let (sign, size) = self.sign_and_size();
        let root = self.by_number(Binary::Pow, 2.0).by_number(Binary::Add, 1.0).sqrt();
        let log = Self::binary(Binary::Add, size.0, root.0).log();
        Self::binary(Binary::Mul, sign.0, log.0)
    }
    /// log(x + √((x − 1)(x + 1)))
    fn arccosh(&self) -> Self {
        let (less, more) = (self.by_number(Binary::Sub, 1.0), self.by_number(Binary::Add, 1.0));
        let root = Self::binary(Binary::Mul, less.0, more.0).sqrt();
        Self::binary(Binary::Add, self.0.clone(), root.0).log()
    }
    /// ½ log((1 + x)/(1 − x))
    fn arctanh(&self) -> Self {
        let (more, one) = (self.by_number(Binary::Add, 1.0), Node::number(1.0));
        let less = Self::binary(Binary::Sub, one, self.0.clone());
        let log = Self::binary(Binary::Div, more.0, less.0).log();
        log.by_number(Binary::Div, 2.0)
    }
    /// ± |x|^(1/3)
    fn cbrt(&self) -> Self {
        let (sign, size) = self.sign_and_size();
        let third = Self::binary(Binary::Div, Node::number(1.0), Node::number(3.0));
        let root = Self::binary(Binary::Pow, size.0, third.0);
        Self::binary(Binary::Mul, sign.0, root.0)
    }
    fn radians(&self) -> Self {
        self.by_number(Binary::Mul, std::f64::consts::PI / 180.0)
    }
    fn deg2rad(&self) -> Self {
        self.radians()
    }
    fn degrees(&self) -> Self {
        self.by_number(Binary::Mul, 180.0 / std::f64::consts::PI)
    }
    fn rad2deg(&self) -> Self {
        self.degrees()
    }

    fn __repr__(&self) -> String {
        writing::shown(&self.0)
    }
}
