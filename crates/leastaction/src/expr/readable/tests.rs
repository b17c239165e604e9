//! What formulas for people look like.

use super::*;
use crate::expr::parse;

fn printed(text: &str, limit: usize) -> String {
    let names: Vec<String> = ["m", "l", "g"].map(str::to_owned).to_vec();
    let coordinates: Vec<String> = ["x", "y"].map(str::to_owned).to_vec();
    let mut graph = Graph::new();
    let mut resolve = |graph: &mut Graph, name: &str| match name {
        "m" => Some(graph.parameter(0)),
        "l" => Some(graph.parameter(1)),
        "g" => Some(graph.parameter(2)),
        "x" => Some(graph.coordinate(0)),
        "y" => Some(graph.coordinate(1)),
        "v_x" => Some(graph.velocity(0)),
        "v_y" => Some(graph.velocity(1)),
        _ => None,
    };
    let node = parse(&mut graph, text, &[], &mut resolve).expect(text);
    let names = Names { coordinates: &coordinates, parameters: &names };
    Readable { graph: &graph, names, limit }.node(node)
}

#[test]
fn formulas_read_as_people_write_them() {
    for (text, expected) in [
        ("0.5*m*v_x^2", "m*v_x^2/2"),
        ("l*m*l*v_x*g*cos(x)", "m*l^2*g*cos(x)*v_x"),
        ("m*l^2*v_x + v_x*m*g", "(l^2 + g)*m*v_x"),
        ("-x - y", "-(x + y)"),
        ("m*x/2 + l*y + x*m/2", "m*x + l*y"),
        ("m*(x + y) + m*x", "m*(2*x + y)"),
        ("sin(x)*(m*l*x + m*l*y) + m*y", "m*(l*sin(x)*(x + y) + y)"),
        ("x/3 + x/6 - x/2 + y", "y"),
        ("x - x*1", "0"),
        ("-x + y", "y - x"),
        ("-(m*x + m*y)", "-m*(x + y)"),
        ("0.5*(v_x^2 + v_y^2) + m/sqrt(x^2 + y^2)", "(v_x^2 + v_y^2)/2 + m/sqrt(x^2 + y^2)"),
        ("((m - l*cos(x))/sin(x))^2/(2*g)", "(m - l*cos(x))^2/(2*g*sin(x)^2)"),
        ("m*(y*x^2 - y*y^2/3)", "m*y*(x^2 - y^2/3)"),
        ("x*(y - x)^2/(y - x)", "x*(y - x)"),
        ("x*x/x/y", "x/y"),
        ("1/x/y", "1/(x*y)"),
        ("2^-x", "2^(-x)"),
        ("(x + y)^1.7*sin(-x)", "-(x + y)^1.7*sin(x)"),
        ("3*x/4 - 0.1", "3*x/4 - 0.1"),
        ("atan2(x, 2*y)/(x - y)", "atan2(x, 2*y)/(x - y)"),
    ] {
        assert_eq!(printed(text, 200), expected, "{text}");
    }
}

#[test]
fn sines_and_cosines_are_put_together() {
    for (text, expected) in [
        ("m*(sin(x)*sin(y) + cos(x)*cos(y))", "m*cos(x - y)"),
        ("m*sin(x)*v_x*cos(y) - m*cos(x)*sin(y)*v_x", "m*sin(x - y)*v_x"),
        ("cos(x)*sin(y) - sin(x)*cos(y)", "-sin(x - y)"),
        ("sin(2*x)*sin(y) + m + cos(y)*cos(2*x)", "m + cos(y - 2*x)"),
        ("l^2*cos(x)^2*(m + g) + l^2*sin(x)^2*(g + m)", "(m + g)*l^2"),
        ("x^2*sin(y)^2 + x*y + x^2*cos(y)^2 - x^2", "x*y"),
        ("cos(x)^2*v_x - y - (-v_x)*sin(x)^2", "v_x - y"),
        // twice, one inside the other
        ("(sin(x)^2*cos(y)^2 + sin(x)^2*sin(y)^2) + cos(x)^2", "1"),
        // nothing of the kind
        ("cos(x)^2 - sin(x)^2", "cos(x)^2 - sin(x)^2"),
        ("cos(x)^2 + sin(y)^2", "cos(x)^2 + sin(y)^2"),
        ("2*cos(x)^2 + 3*sin(x)^2", "2*cos(x)^2 + 3*sin(x)^2"),
        ("cos(x)*cos(y) - sin(x)*sin(y)", "cos(x)*cos(y) - sin(x)*sin(y)"),
        ("1/sin(x)^2 + 1/cos(x)^2", "1/sin(x)^2 + 1/cos(x)^2"),
    ] {
        assert_eq!(printed(text, 200), expected, "{text}");
    }
}

#[test]
fn long_sums_are_shortened() {
    let terms: Vec<String> = (1..=40).map(|k| format!("sin({k}*x)")).collect();
    assert_eq!(printed(&terms.join(" + "), 80), "sin(x) + sin(2*x) + sin(3*x) + sin(4*x) + … + sin(40*x)");
    // many like terms are one
    let terms: Vec<String> = (1..=40).map(|k| format!("{k}*x*sin(y)")).collect();
    assert_eq!(printed(&terms.join(" + "), 80), "820*x*sin(y)");
    // every level doubles what would have to be printed
    let mut nested = "x".to_owned();
    for _ in 0..12 {
        nested = format!("sin({nested} + y*({nested}))");
    }
    assert!(printed(&nested, 80).chars().count() <= 200);
}
