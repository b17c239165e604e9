//! The dominant period of the motion, and whether the step is a simple fraction of it.
//!
//! Known periods are used as they are; otherwise the period is that of the highest peak in the spectrum of the momenta over the
//! first steps. A step that fits a small whole number of times into the period meets the same places again and again, and
//! energy errors that otherwise average out add up.

use super::trail::Trail;
use super::{Check, PeriodFound, Subject, Verdict, digits};
use crate::scalar::elementary;
use std::f64::consts::TAU;

/// With more steps than this in a period nothing was seen to add up.
pub(super) const COARSE: f64 = 16.0;
/// The number of steps in a period is as good as whole if it is nearer than this.
const WHOLE: f64 = 0.02;
/// A peak below so many periods in all is a trend.
const LEAST_PERIODS: f64 = 3.0;

pub(super) fn period(subject: &Subject<'_>, trail: &Trail) -> Check<PeriodFound> {
    let step = subject.plan.step;
    let Some(period) = subject.plan.period.or_else(|| Some(dominant(&trail.signals)? * step)) else {
        let finding = "not measured: nothing repeats within the steps looked at";
        return Check::new(Verdict::NotMeasured, finding, PeriodFound::default());
    };
    let steps = period / step;
    let found = PeriodFound { period: Some(period), steps: Some(steps) };
    let finding = format!("dominant period {}, {} steps", subject.with_unit(period), digits(steps));
    if is_commensurate(period, step) {
        return Check::new(Verdict::Warn, finding, found).advise(format!(
            "so few steps, and a whole number of them, meet the same places in every period: energy errors add up\n\
             try a step of {}",
            digits(period / (steps.round() + 0.4))
        ));
    }
    Check::new(Verdict::Pass, finding, found)
}

/// Whether a small whole number of steps fills a period.
pub(super) fn is_commensurate(period: f64, step: f64) -> bool {
    let steps = period / step;
    steps <= COARSE && (steps - steps.round()).abs() < WHOLE
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
    fn whole_numbers_of_steps_are_told_from_others() {
        assert!(is_commensurate(8.0, 1.0) && is_commensurate(8.01, 1.0));
        assert!(!is_commensurate(8.4, 1.0) && !is_commensurate(200.0, 1.0));
    }
}
