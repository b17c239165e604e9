//! The dominant period of the motion, and whether the step is a simple fraction of it.
//!
//! Known periods are used as they are; otherwise the period is that of the highest peak in the spectrum of the momenta over the
//! first steps. Steps of which a small whole number fills a period, or two periods, meet the same places again and again, and
//! energy errors that otherwise average out add up. Whether they do is measured: the run is repeated, longer, and compared
//! with one whose step is a little larger but fits no period.

use super::conserved;
use super::trail::Trail;
use super::{Check, PeriodFound, Subject, Verdict, digits};
use crate::scalar::elementary;
use std::f64::consts::TAU;

/// With more steps than this in a period nothing was seen to add up. Of the Lagrange top with `gauss8` over 2000 nutations, 16 steps
/// a nutation make an energy error 110 times as large as 16.6 do, 24 steps 250 times, 32 steps 1.5 times; 8.5 steps 7
/// times as large as 8.6, 20.5 steps 27 times, 24.5 steps 1.5 times; thirds and quarters make no difference.
const FEW: f64 = 28.0;
/// Numbers of steps this near to a whole one add up (16.03 steps: 11 times the error, 16.1 steps: 4 times); half as near to a half
/// one (12.51 steps: 5 times, 12.55 steps: twice).
const NEAR: f64 = 0.05;
/// So many steps less are far from whole numbers and from halves.
const ASIDE: f64 = 0.236;
/// An error so many times as large as that of a larger step has added up.
const LARGER: f64 = 2.0;
/// A peak below so many periods in all is a trend.
const LEAST_PERIODS: f64 = 3.0;

pub(super) fn period(subject: &Subject<'_>, trail: &Trail) -> Check<PeriodFound> {
    let step = subject.plan.step;
    let Some(period) = known(subject, trail) else {
        let finding = "not measured: nothing repeats within the steps looked at";
        return Check::new(Verdict::NotMeasured, finding, PeriodFound::default());
    };
    let steps = period / step;
    let mut found = PeriodFound { period: Some(period), steps: Some(steps), ..PeriodFound::default() };
    let mut finding = format!("dominant period {}, {} steps", subject.with_unit(period), digits(steps));
    let Some(fraction) = simple(period, step) else { return Check::new(Verdict::Pass, finding, found) };
    let other = period / (fraction - ASIDE);
    found.other_step = Some(other);
    let what = if fraction.fract() == 0.0 { "a whole number" } else { "a whole number and a half" };
    // over so many steps, the same time with both
    let count = conserved::longer(subject, trail);
    let largest = |step: f64| {
        let steps = ((count as f64 * subject.plan.step / step) as u64).max(1);
        conserved::watch_longer(subject, step, steps).ok().map(|seen| seen.largest)
    };
    let autonomous = subject.plan.problem.system.structure().autonomous;
    let errors = autonomous.then(|| Some([largest(step)?, largest(other)?])).flatten();
    found.energy_errors = errors.filter(|errors| errors.iter().all(|error| error.is_finite()));
    let again =
        "so few steps, and {what} of them, meet the same places again and again".replace("{what}", what);
    let advice = match found.energy_errors {
        Some([own, otherwise]) if own <= LARGER * otherwise => {
            finding += &format!(", nearly {what}; energy errors do not add up in {count} steps");
            return Check::new(Verdict::Pass, finding, found);
        }
        Some([own, otherwise]) => format!(
            "{again}: the energy error is {own:.1e} in {count} steps,\n\
             and {otherwise:.1e} in the same time with a step of {}, though that is larger\n\
             try that, or a smaller one that fits no period",
            digits(other)
        ),
        None => format!("{again}: errors may add up\ntry a step of {}", digits(period / (fraction + ASIDE))),
    };
    Check::new(Verdict::Warn, finding, found).advise(advice)
}

/// The period of the motion, if there is one.
pub(super) fn known(subject: &Subject<'_>, trail: &Trail) -> Option<f64> {
    subject.plan.period.or_else(|| Some(dominant(&trail.signals)? * subject.plan.step))
}

/// The small whole or half number of steps that nearly fills a period.
pub(super) fn simple(period: f64, step: f64) -> Option<f64> {
    let steps = period / step;
    let half = 0.5 * (2.0 * steps).round();
    let near = if half.fract() == 0.0 { NEAR } else { 0.5 * NEAR };
    (steps <= FEW && half >= 1.0 && (steps - half).abs() < near).then_some(half)
}

/// A number of steps in a period that is near to no simple one.
pub(super) fn aside(fraction: f64) -> f64 {
    fraction + ASIDE
}

/// Steps in the period of the highest peak of the signals' spectra together.
fn dominant(signals: &[Vec<f64>]) -> Option<f64> {
    let count = signals.first()?.len();
    if count < 16 {
        return None;
    }
    // padded, so that a peak is many places wide
    let size = (4 * count).next_power_of_two();
    let mut power = vec![0.0; size / 2];
    for signal in signals {
        let mean = signal.iter().sum::<f64>() / count as f64;
        let spread: f64 = signal.iter().map(|x| (x - mean).powi(2)).sum();
        if spread <= 1e-20 * mean * mean * count as f64 {
            continue;
        }
        let window = |i: usize| 0.5 - 0.5 * elementary::cos(TAU * (i as f64 + 0.5) / count as f64);
        let mut re: Vec<f64> = signal.iter().enumerate().map(|(i, x)| window(i) * (x - mean)).collect();
        re.resize(size, 0.0);
        let mut im = vec![0.0; size];
        transform(&mut re, &mut im);
        for (k, sum) in power.iter_mut().enumerate() {
            *sum += (re[k] * re[k] + im[k] * im[k]) / spread;
        }
    }
    let place = (1..size / 2 - 1).max_by(|a, b| power[*a].total_cmp(&power[*b]))?;
    let periods = place as f64 * count as f64 / size as f64;
    if power[place] <= 0.0 || periods < LEAST_PERIODS {
        return None;
    }
    // the top of a parabola through the logarithms of three places
    let [a, b, c] = [place - 1, place, place + 1].map(|k| elementary::ln(power[k].max(f64::MIN_POSITIVE)));
    let shift = if a - 2.0 * b + c < 0.0 { 0.5 * (a - c) / (a - 2.0 * b + c) } else { 0.0 };
    Some(size as f64 / (place as f64 + shift))
}

/// The Fourier transform in place; the length is a power of two.
fn transform(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        for k in 0..half {
            let (sin, cos) = elementary::sin_cos(-std::f64::consts::PI * k as f64 / half as f64);
            for i in (k..n).step_by(2 * half) {
                let j = i + half;
                let (x, y) = (cos * re[j] - sin * im[j], cos * im[j] + sin * re[j]);
                (re[j], im[j]) = (re[i] - x, im[i] - y);
                (re[i], im[i]) = (re[i] + x, im[i] + y);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_of_sines_are_found() {
        for period in [5.3, 8.0, 37.7, 200.0] {
            let signal =
                (0..1500).map(|i| 3.0 + (TAU * f64::from(i) / period).sin() + 0.1 * f64::from(i).cos());
            let found = dominant(&[signal.collect()]).expect("a peak");
            assert!((found / period - 1.0).abs() < 2e-3, "{period}: {found}");
        }
        // less than three periods, and nothing at all
        assert_eq!(dominant(&[(0..100).map(|i| (0.05 * f64::from(i)).sin()).collect()]), None);
        assert_eq!(dominant(&[vec![2.5; 100]]), None);
        assert_eq!(dominant(&[vec![1.0, 2.0]]), None);
    }

    #[test]
    fn simple_numbers_of_steps_are_told_from_others() {
        for (steps, expected) in [
            (8.0, Some(8.0)),
            (8.04, Some(8.0)),
            (7.96, Some(8.0)),
            (8.06, None),
            (8.5, Some(8.5)),
            (8.52, Some(8.5)),
            (8.53, None),
            (8.25, None),
            (27.0, Some(27.0)),
            (200.0, None),
            (0.01, None),
        ] {
            assert_eq!(simple(steps * 0.3, 0.3), expected, "{steps}");
            if let Some(fraction) = expected {
                assert_eq!(simple(aside(fraction) * 0.3, 0.3), None);
                assert_eq!(simple((fraction - ASIDE) * 0.3, 0.3), None);
            }
        }
    }
}
