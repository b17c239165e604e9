use leastaction::prelude::*;
use leastaction::system::{Energy, Velocities};
#[test]
fn smoke() {
    let sys = catalogue::system("double-pendulum").unwrap();
    println!("{sys}");
    for (m, h) in [("midpoint", 0.04), ("simpson", 0.04),("simpson", 0.01), ("lobatto", 0.02),("lobatto", 0.01),("lobatto12", 0.04), ("rk4", 0.02), ("gauss8", 0.02), ("gauss30", 0.04), ("lobatto30", 0.04)] {
        let pr: Problem<f64> = sys.problem(&Settings::default()).unwrap();
        let mut st = Stepper::new(&pr, &Method::named(m).unwrap(), h);
        let mut s = State::new(&pr);
        let mut en = Energy::new(&sys.model, &pr.parameters);
        let mut ve = Velocities::new(&sys.model, &pr.parameters);
        let mut v = pr.v0.clone();
        let e0 = en.at(&s.q, &v, &0.0).0;
        let mut worst = 0.0f64;
        let mut its = 0;
        let now = std::time::Instant::now();
        let n = (10.0 / h as f64).round() as usize;
        for _ in 0..n {
            its += st.step(&mut s).unwrap();
            ve.velocities(&s.q, &s.p, &0.0, &mut v).unwrap();
            worst = worst.max((en.at(&s.q, &v, &0.0).0 / e0 - 1.0).abs());
        }
        println!("{m} {h} {worst:e} its {} {:?} per step", its as f64 / n as f64, now.elapsed() / n as u32);
    }
}
