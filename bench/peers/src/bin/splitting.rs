//! The yardstick for chains: a splitting method written by hand for them. Settings: `split6:STEPS`, or another such method;
//! `split6+avx2:STEPS` with wider vectors than every processor of the kind has.
//!
//! Two arrays, the formula of the force as short as it gets, no compensated sums, what the compiler makes of it; the coefficients
//! are those of the library. A zero at both ends of q stands for the walls.

use leastaction::method::{Flows, Method, Scheme};
use leastaction_bench_peers::conversation::{Question, answer, parts};
use leastaction_bench_peers::motion::{ALPHA, Chain, Motion};
use leastaction_bench_peers::solver::{Job, See, Solver};

fn main() {
    answer(&Solver(job));
}

fn job(question: &Question) -> Result<Job, String> {
    let (name, steps) = parts(question.setting)?;
    let length = question.system.strip_prefix("fput-").and_then(|n| n.parse().ok());
    let chain =
        Chain(length.ok_or_else(|| format!("it is for chains alone, not for `{}`", question.system))?);
    let (name, wide) = name.strip_suffix("+avx2").map_or((name, false), |name| (name, true));
    if wide && !has_avx2() {
        return Err("this processor has no AVX2".to_owned());
    }
    let method = Method::named(name).map_err(|error| error.to_string())?;
    let Scheme::Splitting(splitting) = method.scheme else {
        return Err(format!("`{name}` does not kick and drift"));
    };
    let (flows, h) = (Flows::<f64>::new(&splitting), question.until / steps);
    let scaled = |list: &[f64]| list.iter().map(|x| x * h).collect::<Vec<_>>();
    let (kicks, drifts) = (scaled(&flows.kicks), scaled(&flows.drifts));
    Ok(Job::new(chain, move |chain, see| {
        let start = chain.start();
        let (q, p) = start.split_at(chain.0);
        let mut by_hand = ByHand { q: [&[0.0], q, &[0.0]].concat(), p: p.to_vec() };
        let run = Steps { kicks: &kicks, drifts: &drifts, steps: steps as u64 };
        if wide {
            run_wide(&mut by_hand, &run, see);
        } else {
            by_hand.run(&run, see);
        }
        std::hint::black_box(&by_hand.q);
        Ok(())
    }))
}

struct Steps<'a> {
    kicks: &'a [f64],
    drifts: &'a [f64],
    steps: u64,
}

struct ByHand {
    q: Vec<f64>,
    p: Vec<f64>,
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

/// The same function with other instructions, where there are any.
fn run_wide(by_hand: &mut ByHand, run: &Steps, see: See) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn wide(by_hand: &mut ByHand, run: &Steps, see: See) {
            by_hand.run(run, see);
        }
        // SAFETY: a job is made only where `has_avx2`
        unsafe { wide(by_hand, run, see) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    by_hand.run(run, see);
}

impl ByHand {
    #[inline(always)]
    fn run(&mut self, run: &Steps, mut see: See) {
        let (kicks, last) = (run.kicks, run.kicks.len() - 1);
        self.kick(kicks[0]);
        for step in 0..run.steps {
            // the last kick of a step and the first of the next are one, unless somebody looks between them
            let merged = step + 1 < run.steps && see.is_none();
            for i in 0..last {
                self.drift(run.drifts[i]);
                let both = i + 1 == last && merged;
                self.kick(if both { kicks[last] + kicks[0] } else { kicks[i + 1] });
            }
            if let Some(see) = &mut see {
                let q = &self.q[1..self.q.len() - 1];
                see(&[q, &self.p].concat());
                if step + 1 < run.steps {
                    self.kick(kicks[0]);
                }
            }
        }
    }

    /// p += size (F(right) − F(left)) with F(d) = d + α d²
    #[inline(always)]
    fn kick(&mut self, size: f64) {
        for (p, q) in self.p.iter_mut().zip(self.q.windows(3)) {
            let (left, right) = (q[1] - q[0], q[2] - q[1]);
            *p += size * ((right - left) * (1.0 + ALPHA * (right + left)));
        }
    }

    #[inline(always)]
    fn drift(&mut self, size: f64) {
        for (q, p) in self.q[1..].iter_mut().zip(&self.p) {
            *q += size * p;
        }
    }
}
