//! Bytes as the Lagrangian of two coordinates: derivatives, tapes, and both back ends, which must agree to the last bit.
#![no_main]

use leastaction::error::Source;
use leastaction::expr::Backend;
use leastaction::prelude::Run;
use leastaction::system::Hessian;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(formula) = std::str::from_utf8(data) else { return };
    if formula.contains("'''") || formula.len() > 2000 {
        return;
    }
    let text = format!(
        "coordinates = ['x', 'y']\n[parameters]\nm = 2\nk = [3, 4]\n[lagrangian]\nexpression = '''\n{formula}'''\n"
    );
    let Ok(run) = Run::read("fuzz", &Source::new("fuzz.toml", text)) else { return };
    let Ok((system, _)) = run.resolve() else { return };
    let values = |backend: Backend| -> Option<Vec<u64>> {
        let system = system.with_backend(Some(backend)).ok()?;
        let parameters = [2.0, 3.0, 4.0];
        let mut hessian = Hessian::new(&system.model, &parameters[..system.parameters.len()]);
        let mut bits = Vec::new();
        for state in [[0.3, -0.7, 0.2, 0.9], [1e3, 0.0, -2.5, 1e-3], [-0.0, 1e300, 4.0, -1e-300]] {
            let at = hessian.at(&state[..2], &state[2..], &0.5);
            let all = [at.l_q, at.l_v, at.l_qq, at.l_qv, at.l_vv].concat();
            // any NaN is as good as another
            bits.extend(all.iter().map(|x| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }));
        }
        Some(bits)
    };
    if let Some(native) = values(Backend::Native) {
        assert_eq!(Some(native), values(Backend::Interpreter));
    }
});
